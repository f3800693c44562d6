import { AsyncLocalStorage } from "node:async_hooks";
import type { LaneId, ModelId, TaskId } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";
import type { Secrets } from "../kit/network.ts";

/** The task that is worked on, and the account that is asked for it. */
export interface Current {
  readonly task: { readonly id: TaskId; readonly model: ModelId };
  readonly account?: { readonly lane: LaneId; readonly terms: Json | undefined } | undefined;
  /** The secrets of the accounts that the present call of the adapter has asked, one entry for each request. */
  readonly secrets: Secrets[];
}

export type Context = ReturnType<typeof createContext>;

/** Tells the network for which task requests are made. Work outside of a task has no context. */
export function createContext() {
  const storage = new AsyncLocalStorage<Current>();
  return {
    current: () => storage.getStore(),
    within: <T>(task: Current["task"], work: () => Promise<T>): Promise<T> =>
      storage.run({ task: { id: task.id, model: task.model }, secrets: [] }, work),
    /** Without a task, the work runs as it is. */
    inAccount<T>(account: Required<Current>["account"], work: (current?: Current) => T): T {
      const outer = storage.getStore();
      if (outer === undefined) return work();
      const current: Current = { ...outer, account, secrets: [] };
      return storage.run(current, () => work(current));
    },
  };
}
