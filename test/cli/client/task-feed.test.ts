import { expect, test } from "bun:test";
import { followTasks } from "../../../cli/client/task-feed.ts";
import type { TaskPage } from "../../../cli/client/task-source.ts";
import { ownTasks } from "../../../cli/client/task-source.ts";
import { fakeTiming } from "../support.ts";

const pageOf = (ids: readonly string[], next: string | null): TaskPage => ({
  tasks: ids.map((id) => ({ task_id: id, status: "pending", kind: "image", model: "m", created_at: 0 })),
  next,
});

const streamUntil = (signal: AbortSignal) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => signal.addEventListener("abort", () => controller.close()),
  });

test("tasks that have not ended are told before older ones are read, the oldest first", async () => {
  const end = new AbortController();
  const options = { timing: fakeTiming(), signal: end.signal, userAgent: "svc" };
  const source = ownTasks({ server: "http://127.0.0.1:1", key: "sk-svc-test" }, options);
  const seen: string[] = [];
  const isRead = Promise.withResolvers<void>();
  const following = followTasks({
    ...options,
    source: {
      ...source,
      events: async (_last, signal) => ({ ok: true, value: streamUntil(signal) }),
      async page(after, status) {
        seen.push(`asks ${status} ${after ?? "first"}`);
        if (status === "processing") return pageOf(["task_5", "task_2"], null);
        return after === undefined ? pageOf(["task_4", "task_3"], "older") : pageOf(["task_1"], null);
      },
    },
    ...{ most: 10, onlyLive: true, onLive: () => {}, onTrouble: () => {} },
    onTasks: (tasks) => void seen.push(tasks.map(({ task_id: id }) => id).join(" ")),
    onRead: () => isRead.resolve(),
  });
  await isRead.promise;
  end.abort();
  await following.catch(() => {});
  expect(seen).toEqual([
    ...["asks processing first", "asks pending first", "task_2 task_3 task_4 task_5"],
    ...["asks pending older", "task_1"],
  ]);
});
