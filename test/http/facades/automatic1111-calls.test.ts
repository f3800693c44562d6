import { expect, test } from "bun:test";
import type { KeyId } from "../../../src/domain/ids.ts";
import type { Preview } from "../../../src/domain/task/preview.ts";
import { createCalls } from "../../../src/http/facades/sdapi/calls.ts";
import { createFeeds } from "../../../src/runtime/signals.ts";
import { accountId, taskId } from "../../helpers/store.ts";

const KEY = "key_00000000000000000000000001" as KeyId;
const preview: Preview = { index: 0, type: "image/png", bytes: new Uint8Array(1) };

test("early pictures of a call whose caller has left are kept up to its task's end alone", () => {
  const { feed, previews } = createFeeds();
  const clock = { now: () => 0, elapsed: () => 0 };
  const tasks = { summary: () => Promise.reject(new Error("nobody asks")) };
  const calls = createCalls({ tasks, previews, feed, clock });
  const ended = { id: taskId(1), accountId: accountId(1) };
  calls.begin(KEY, { taskId: taskId(1), name: "left", job: "txt2img", steps: 1, times: 1 });
  previews.publish(taskId(1), preview);
  feed.publish(ended, false);
  expect([previews.isWatched(taskId(1)), calls.stateOf(KEY).finished]).toEqual([true, []]);
  feed.publish(ended, true);
  expect([previews.isWatched(taskId(1)), calls.stateOf(KEY).finished]).toEqual([false, ["left"]]);
});
