import { expect, test } from "bun:test";
import type { Preview } from "../../src/domain/task/preview.ts";
import { createPreviewFeed } from "../../src/runtime/signals.ts";
import { taskId } from "../helpers/store.ts";

const preview: Preview = { index: 0, type: "image/png", bytes: new Uint8Array(1) };

test("previews reach those who look at their task, and are kept for nobody", () => {
  const feed = createPreviewFeed();
  const seen: string[] = [];
  feed.publish(taskId(1), preview);
  const stops = ["a", "b"].map((name) => feed.subscribe(taskId(1), ({ index }) => seen.push(name + index)));
  feed.subscribe(taskId(2), () => seen.push("other"));
  feed.publish(taskId(1), preview);
  expect(seen).toEqual(["a0", "b0"]);
  stops[0]?.();
  feed.publish(taskId(1), { ...preview, index: 1 });
  expect(seen).toEqual(["a0", "b0", "b1"]);
});

test("a task is watched while anybody looks", () => {
  const feed = createPreviewFeed();
  expect(feed.isWatched(taskId(1))).toBe(false);
  const stops = [1, 2].map(() => feed.subscribe(taskId(1), () => undefined));
  for (const stop of stops) {
    expect(feed.isWatched(taskId(1))).toBe(true);
    stop();
  }
  expect(feed.isWatched(taskId(1))).toBe(false);
});
