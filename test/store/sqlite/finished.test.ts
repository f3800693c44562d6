import { afterEach, expect, test } from "bun:test";
import { toMicros } from "../../../src/domain/money/money.ts";
import type { Task } from "../../../src/domain/task/task.ts";
import { succeeded } from "../../../src/domain/task/transition.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { createFinished } from "../../../src/store/sqlite/task-store/finished.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  assetId,
  attemptId,
  beginOne,
  callbackId,
  NOW,
  newAsset,
  newTask,
  taskId,
} from "../../helpers/store.ts";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

function opened(path: string): Store {
  const store = openStore({ path });
  stops.push(store.stop);
  return store;
}

test("a task that was completed a moment ago is told of from memory as from its rows, and so are its files", async () => {
  const { path, remove } = migratedFile();
  stops.push(remove);
  const store = opened(path);
  await addAccount(store, { id: ACCOUNT });
  await admit(store, { parent: { id: taskId(9), relation: "retry" } });
  const lease = await beginOne(store);
  await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1);
  const made = [
    newAsset({ number: 1 }),
    { ...newAsset({ number: 2, index: 1, durationMs: 40 }), hasAlpha: true },
  ];
  const usage = { inputTokens: 3, outputTokens: undefined, made: { size: "64x32" } };
  const more = {
    costMicros: toMicros(5),
    issues: [{ index: 2, code: "UPSTREAM_ERROR", message: "It failed." } as const],
  };
  const end = succeeded(lease.task, NOW + 5, attemptId(1), made, usage, callbackId(1), more);
  expect(await store.tasks.apply(lease, end)).toBe("applied");

  const files = [assetId(1), assetId(2)];
  const read = async ({ tasks }: Store) => ({
    summary: await tasks.summary(taskId(1)),
    assets: await Promise.all(files.map((id) => tasks.assetById(id))),
  });
  const kept = await read(store);
  expect(kept).toEqual(await read(opened(path)));
  expect(kept.summary).toMatchObject({ status: "completed", startedAt: NOW, cancelRequested: true });
});

const ended = (number: number) => {
  const task = { ...newTask({ number }), cancelRequested: false } as Task;
  const files = [newAsset({ number, taskId: task.id })];
  return { task, end: succeeded(task, NOW, attemptId(number), files, undefined, callbackId(number)) };
};
const BEFORE = { cancel_requested: 0, started_at: NOW } as const;

test("what ended in writes that were undone is not told of", () => {
  const undone: (() => void)[] = [];
  const finished = createFinished({ onUndone: (forget) => void undone.push(forget) });
  const { task, end } = ended(1);
  finished.completed(task, end, BEFORE);
  for (const forget of undone) forget();
  expect([finished.summaries.get(task.id), finished.assets.get(assetId(1))]).toEqual([undefined, undefined]);
});

test("a thousand ends that nobody reads displace the older ones, and none that was read", () => {
  const finished = createFinished({ onUndone() {} });
  for (let number = 1; number <= 1_002; number++) {
    const { task, end } = ended(number);
    finished.completed(task, end, BEFORE);
    if (number === 1) expect(finished.summaries.get(task.id)?.completedAt).toBe(NOW);
  }
  const isKept = (number: number) => finished.summaries.get(taskId(number)) !== undefined;
  expect([1, 2, 3, 1_002].map(isKept)).toEqual([true, false, true, true]);
});
