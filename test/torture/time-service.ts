import type { ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { MODEL } from "../helpers/engine.ts";
import { newTask } from "../helpers/store.ts";
import { catalogOf } from "./simulated-catalog.ts";
import { ACCOUNT, type Machine, openService } from "./simulated-service.ts";
import type { Upstream } from "./time-upstream.ts";

export const DEADLINE_MS = 600_000;
/** Ways to the upstream, by whether its key is honoured there. */
const WAYS = [
  ["asked", false],
  ["keyed", true],
] as const;
type Way = (typeof WAYS)[number][0];

const catalog = catalogOf(
  WAYS.map(
    ([way]): Model => ({
      ...MODEL,
      id: way as string as ModelId,
      deadlineMs: DEADLINE_MS,
      routes: [{ provider: way as string as ProviderId, upstreamModel: "one" }],
    }),
  ),
);

/** A machine on which everything goes wrong that has to do with time, and its upstream. */
export interface TimeMachine extends Machine {
  readonly upstream: Upstream;
}

export type Service = ReturnType<typeof startService>;

export function startService(machine: TimeMachine) {
  const { upstream, ids, dice } = machine;
  const service = openService(machine, {
    ...{ catalog, deadlineMs: DEADLINE_MS },
    adapters: (owner) =>
      WAYS.map(([way, isKeyed]) => upstream.adapterOf(owner, way as string as ProviderId, isKeyed)),
  });
  return {
    ...service,
    /** @returns undefined when it is not accepted */
    create(): Promise<TaskId | undefined> {
      const way: Way = dice.pick(["asked", "keyed"]);
      const task = newTask({
        ...{ id: ids.create("task"), accountId: ACCOUNT, createdAt: service.clock.now() },
        ...{ model: way as string as ModelId, lane: way as string as ProviderId },
      });
      return service.admit(task);
    },
  };
}
