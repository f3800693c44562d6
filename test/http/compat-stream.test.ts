import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import type { AssetStore } from "../../src/domain/ports/asset-store.ts";
import type { TaskStore } from "../../src/domain/ports/task-store.ts";
import type { Preview } from "../../src/domain/task/preview.ts";
import type { TaskSummary } from "../../src/domain/task/task.ts";
import { streamReply } from "../../src/http/compat/stream.ts";
import type { Standing } from "../../src/http/standing.ts";
import { createPreviewFeed } from "../../src/runtime/signals.ts";
import { fakeClock } from "../helpers/engine.ts";
import { taskId } from "../helpers/store.ts";

const ID = taskId(1);
/** A completed task, but for its images, which are not looked at here. */
const DONE = { id: ID, results: [] as TaskSummary["results"] } as TaskSummary;

/** Of a caller whose key stays as it is. */
const STANDING: Standing = {
  path: "/compat/v1/images/edits",
  refusal: () => undefined,
  lateRefusal: () => undefined,
  onRefused: () => () => {},
  needing: () => STANDING,
};

const preview = (index: number, bytes: Uint8Array = new Uint8Array([index])): Preview => ({
  ...({ index, outputIndex: 0, type: "image/jpeg" } as const),
  bytes,
});

/** A streamed answer whose task ends as the test says. */
function open() {
  const previews = createPreviewFeed();
  const gone = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<TaskSummary>();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const deps = { previews, log, clock: fakeClock(90_500), tasks: {} as TaskStore, assets: {} as AssetStore };
  let isLeft = false;
  const reply = streamReply(deps, {
    ...{ event: "image_edit", taskId: ID, requestId: "req_1", format: "b64_json" },
    ...{ asked: { size: "1024x1024" }, sent: {} },
    ...{ origin: "", headers: {}, gone: gone.signal, standing: STANDING, finish: () => promise },
    leave: () => {
      isLeft = true;
    },
  });
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => {
    const { value } = await reader.read();
    return value === undefined ? undefined : Buffer.from(value).toString();
  };
  /** All of one event. */
  const event = async () => {
    let text = await next();
    while (text !== undefined && !text.endsWith("\n\n")) text += (await next()) ?? "\n\n";
    return text;
  };
  return { previews, gone, reader, next, event, isLeft: () => isLeft, finish: resolve, fail: reject };
}

const dataOf = (event: string | undefined) => JSON.parse(/^data: (.*)$/m.exec(event ?? "")?.[1] ?? "null");
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("previews are told as they come, in that API's words, until the task is done", async () => {
  const stream = open();
  expect(await stream.next()).toBe(": keep-alive\n");
  const coming = stream.event();
  await settle();
  stream.previews.publish(ID, preview(0, new Uint8Array(500_000).fill(7)));
  const event = await coming;
  expect(event).toStartWith("event: image_edit.partial_image\ndata: {");
  expect(dataOf(event)).toEqual({
    type: "image_edit.partial_image",
    partial_image_index: 0,
    created_at: 90,
    size: "1024x1024",
    quality: "auto",
    background: "auto",
    output_format: "jpeg",
    b64_json: Buffer.alloc(500_000, 7).toString("base64"),
  });
  const last = stream.event();
  stream.finish(DONE);
  expect(await last).toBeUndefined();
  expect(stream.previews.isWatched(ID)).toBe(false);
});

test("one that is shown before anybody reads is not lost, and of many the latest is told", async () => {
  const stream = open();
  for (const index of [0, 1, 2]) stream.previews.publish(ID, preview(index));
  expect(await stream.next()).toBe(": keep-alive\n");
  expect(dataOf(await stream.event())).toMatchObject({ partial_image_index: 2 });
});

test("a large one is written a piece at a time, and those that come meanwhile replace one another", async () => {
  const stream = open();
  await stream.next();
  const coming = stream.next();
  await settle();
  stream.previews.publish(ID, preview(0, new Uint8Array(8 * 1024 * 1024)));
  expect(await coming).toBe("event: image_edit.partial_image\ndata: ");
  for (const index of [1, 2]) stream.previews.publish(ID, preview(index));
  const pieces: string[] = [];
  while (!pieces.at(-1)?.endsWith("\n\n")) pieces.push((await stream.next()) ?? "\n\n");
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(64 * 1024);
  expect(dataOf(await stream.event())).toMatchObject({ partial_image_index: 2 });
});

test("a task that fails after a preview is told as an error, and the previews are let go of", async () => {
  const stream = open();
  await stream.next();
  stream.previews.publish(ID, preview(0));
  await stream.event();
  const coming = stream.event();
  stream.fail(new AppError("content_policy_violation", { kind: "task_cancelled", task: ID }));
  expect(dataOf(await coming)).toMatchObject({ error: { code: "content_policy_violation" } });
  expect(stream.previews.isWatched(ID)).toBe(false);
});

test("a reader that leaves, or never comes, lets go of the previews", async () => {
  for (const isRead of [true, false]) {
    const stream = open();
    if (isRead) await stream.next();
    expect(stream.previews.isWatched(ID)).toBe(true);
    await stream.reader.cancel();
    stream.finish(DONE);
    await settle();
    expect(stream.previews.isWatched(ID)).toBe(false);
    expect(stream.isLeft()).toBe(true);
  }
});
