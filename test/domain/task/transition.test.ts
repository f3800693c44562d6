import { expect, test } from "bun:test";
import type {
  AccountId,
  AssetId,
  AttemptId,
  CallbackId,
  KeyId,
  ModelId,
  ProviderId,
  TaskId,
} from "../../../src/domain/ids.ts";
import type { Asset } from "../../../src/domain/media/asset.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { LEGAL_MOVES, STAGES, type Task } from "../../../src/domain/task/task.ts";
import * as transition from "../../../src/domain/task/transition.ts";

const task = (fields: Partial<Task> = {}): Task => ({
  id: "task_1" as TaskId,
  accountId: "acc_1" as AccountId,
  keyId: "key_1" as KeyId,
  requestId: "req_1",
  kind: "image",
  model: "m" as ModelId,
  request: { kind: "image", model: "m" as ModelId, mode: "text-to-image", n: 2, parameters: {}, inputs: [] },
  quote: {
    priceVersion: "1",
    outputs: 2,
    lines: [{ sku: "image", unit: "output", unitMicros: toMicros(10), perOutput: 1 }],
    ceiling: toMicros(20),
  },
  held: toMicros(20),
  origin: "http://localhost",
  status: "processing",
  stage: "finalizing",
  progress: 50,
  lane: "p" as ProviderId,
  routeIndex: 0,
  attempts: 1,
  failures: 0,
  cancelRequested: false,
  results: [],
  createdAt: 0,
  ...fields,
});
const attempt = "att_1" as AttemptId;
const callback = "cb_1" as CallbackId;
const asset = (index: number): Asset => ({
  id: `asset_${index}` as AssetId,
  accountId: "acc_1" as AccountId,
  taskId: "task_1" as TaskId,
  role: "output",
  index,
  createdAt: 9,
  sha256: "00",
  sizeBytes: 1,
  type: "image/png",
  width: 1,
  height: 1,
});
const deltas = (entries: transition.Transition["ledger"]) =>
  entries.map(({ kind, balanceDelta, heldDelta }) => [kind, balanceDelta, heldDelta] as const);

test("success captures what was delivered and releases the rest of the hold", () => {
  const whole = transition.succeeded(task(), 9, attempt, [asset(0), asset(1)], undefined, callback);
  expect(deltas(whole.ledger)).toEqual([["capture", toMicros(-20), toMicros(-20)]]);
  const half = transition.succeeded(task(), 9, attempt, [asset(0)], undefined, callback);
  expect(deltas(half.ledger)).toEqual([
    ["capture", toMicros(-10), toMicros(-10)],
    ["release", toMicros(0), toMicros(-10)],
  ]);
});

test("failure and cancellation release the whole hold and charge nothing", () => {
  const failed = transition.failed(task(), 9, { code: "UPSTREAM_ERROR", message: "x" }, callback);
  const cancelled = transition.cancelled(task(), 9);
  for (const ending of [failed, cancelled]) {
    expect(deltas(ending.ledger)).toEqual([["release", toMicros(0), toMicros(-20)]]);
    expect(ending.ending?.charged).toBe(toMicros(0));
  }
});

test("a callback is left by completed and failed, not by cancelled, and only where one was asked for", () => {
  const asked = task({ callbackUrl: "https://example.com/hook" });
  const error = { code: "UPSTREAM_ERROR", message: "x" } as const;
  expect(transition.succeeded(asked, 9, attempt, [asset(0)], undefined, callback).callback?.dueAt).toBe(9);
  expect(transition.failed(asked, 9, error, callback).callback?.url).toBe("https://example.com/hook");
  expect(transition.cancelled(asked, 9).callback).toBeUndefined();
  expect(transition.failed(task(), 9, error, callback).callback).toBeUndefined();
});

test("every transition is a legal move from every stage it starts in", () => {
  const again = { dueAt: 1, failures: 0, lane: "p" as ProviderId, routeIndex: 0 };
  const all = [
    transition.inputsReady(1, task().request, []),
    transition.submitted(1, attempt, {}, 2),
    ...STAGES.filter((stage) => stage !== "terminal").map((stage) =>
      transition.snoozed(task({ stage }), 1, again),
    ),
    transition.requeued(1, again),
    transition.passedOn(1, { lane: again.lane, routeIndex: 1 }, { id: attempt, detail: "x" }),
    transition.outputsReady(1, attempt, []),
    transition.succeeded(task(), 1, attempt, [asset(0)], undefined, callback),
    transition.failed(task(), 1, { code: "UPSTREAM_ERROR", message: "x" }, callback),
    transition.cancelled(task(), 1),
  ];
  for (const each of all) {
    for (const from of each.from) expect(LEGAL_MOVES[from] as readonly string[]).toContain(each.to);
  }
});

test("only an end leaves no due time, and a snooze reports at most 99 percent", () => {
  expect(
    transition.snoozed(task({ stage: "running" }), 1, { dueAt: 5, failures: 0, progress: 100 }).progress,
  ).toBe(99);
  expect(
    transition.failed(task(), 1, { code: "UPSTREAM_ERROR", message: "x" }, callback).dueAt,
  ).toBeUndefined();
});

test("a task is due at a whole millisecond, not before its delay is over", () => {
  const snoozed = transition.snoozed(task({ stage: "running" }), 1_000, { dueAt: 1_857.142, failures: 0 });
  expect(snoozed.dueAt).toBe(1_858);
});
