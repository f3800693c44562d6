import { expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import type { LogFields } from "../../src/domain/ports/runtime.ts";
import { createAbsences } from "../../src/scheduler/routing/absences.ts";
import { fakeClock } from "../helpers/engine.ts";
import { taskId } from "../helpers/store.ts";

test("an account that is switched off is told of once in ten minutes, however many tasks wait for it", () => {
  const clock = fakeClock();
  const said: LogFields[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (fields: LogFields) => void said.push(fields) };
  const absences = createAbsences({ clock, log });
  const [fal, bfl] = ["fal" as LaneId, "bfl" as LaneId];
  for (const number of [1, 2, 3]) absences.waits(fal, taskId(number));
  absences.waits(bfl, taskId(4));
  expect(said).toEqual([
    { task: taskId(1), provider: fal },
    { task: taskId(4), provider: bfl },
  ]);
  clock.advance(599_999);
  absences.waits(fal, taskId(1));
  expect(said).toHaveLength(2);
  clock.advance(1);
  absences.waits(fal, taskId(2));
  expect(said.at(-1)).toEqual({ task: taskId(2), provider: fal });
});
