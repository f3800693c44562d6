import { expect, test } from "bun:test";
import { createEventReader } from "../../console/api/event-text.ts";

const TEXT =
  'id: 7\n\n: still here\n\nid: 8\nevent: completed\ndata: {"a":\ndata: 1}\n\nevent: failed\ndata: {}\n\n';

test("events are the same however their text is cut into pieces", () => {
  for (let size = 1; size <= TEXT.length; size += 1) {
    const { read, lastId } = createEventReader();
    const pieces = TEXT.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const events = pieces.flatMap(read);
    expect([size, events, lastId()]).toEqual([
      size,
      [
        { name: "completed", data: '{"a":\n1}' },
        { name: "failed", data: "{}" },
      ],
      "8",
    ]);
  }
});

test("a stream that broke goes on after its last whole event, and says where it began before there was one", () => {
  const { read, lastId, reset } = createEventReader();
  read("id: 5\n\nid: 6\nevent: comp");
  expect(lastId()).toBe("5");
  reset();
  expect(read("id: 6\nevent: completed\ndata: {}\n\n")).toEqual([{ name: "completed", data: "{}" }]);
  expect(lastId()).toBe("6");
});
