import { expect, test } from "bun:test";
import type { AttemptId, ProviderId, TaskId } from "../../../src/domain/ids.ts";
import type { Model, Route } from "../../../src/domain/model/model.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { quote } from "../../../src/domain/money/pricing.ts";
import { atMost, costOf, mostCostOf } from "../../../src/domain/money/upstream-cost.ts";
import type { Attempt, Task } from "../../../src/domain/task/task.ts";
import { MODEL } from "../../helpers/engine.ts";
import { newTask } from "../../helpers/store.ts";

const charged: Route = { provider: "p" as ProviderId, upstreamModel: "dear", cost: "list" };
const free: Route = { provider: "p" as ProviderId, upstreamModel: "free" };
const model: Model = {
  ...MODEL,
  routes: [free, charged],
  price: { version: "1", lines: [{ sku: "m", unit: "output", unitMicros: toMicros(40_000) }] },
};
const request = { ...newTask().request, n: 2 };
const dear = {
  rule: { version: "2", lines: [{ sku: "x", unit: "output", unitMicros: toMicros(9_000_000) }] },
} as const;
// What its caller pays is something else.
const task = {
  ...newTask({ request }),
  quote: quote(model, request, { ...dear, multiplier: 2_000_000 }),
} as unknown as Task;
const attempt = (route: Route): Attempt => ({
  ...{ id: "att_1" as AttemptId, taskId: "task_1" as TaskId, sequence: 1, state: "done", startedAt: 0 },
  ...{ provider: route.provider, lane: route.provider, upstreamModel: route.upstreamModel },
});
const outputs = [{ width: 1, height: 1 }];

test("an attempt on a route that is charged costs the model's own price of what was delivered, whatever its caller pays", () => {
  expect(costOf(model, task, attempt(charged), { outputs })).toBe(toMicros(40_000));
  expect(costOf(model, task, attempt(charged), { outputs: [...outputs, ...outputs, ...outputs] })).toBe(
    toMicros(80_000),
  );
  expect(mostCostOf(model, task, attempt(charged))).toBe(toMicros(80_000));
});

test.each([
  ["on a route nothing is known of", model, attempt(free)],
  ["on a route that the model no longer has", { ...model, routes: [free] }, attempt(charged)],
  ["of a model that is gone", undefined, attempt(charged)],
  ["that was never begun", model, undefined],
  [
    "of a request that the list has no price for",
    { ...model, price: { version: "1", lines: [] } },
    attempt(charged),
  ],
] as const)("nothing is said of an attempt %s", (_, of, each) => {
  expect(costOf(of, task, each, { outputs })).toBeUndefined();
  expect(mostCostOf(of, task, each)).toBeUndefined();
});

test("a cost that is only the most it can be is told as such", () => {
  expect(atMost("Overdue.", toMicros(40_000))).toBe("Overdue. The cost is at most 0.040000.");
  expect(atMost('It answered 500 "no"', toMicros(40_000))).toBe(
    'It answered 500 "no". The cost is at most 0.040000.',
  );
  expect(atMost(undefined, toMicros(0))).toBe("The cost is at most 0.000000.");
  expect([atMost("Overdue.", undefined), atMost(undefined, undefined)]).toEqual(["Overdue.", undefined]);
});
