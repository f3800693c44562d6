import type { StorageError } from "../../domain/ports/task-store.ts";
import type { Write } from "./batch.ts";

/** A write that is not committed yet. */
export interface KeptWrite extends Write {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** When it is refused, in milliseconds waited in outages. */
  readonly waitsUntilMs: number;
}

export type KeptWrites = ReturnType<typeof createKeptWrites>;

/** The writes that wait for the next commit, in their order. */
export function createKeptWrites() {
  let waiting: KeptWrite[] = [];

  return {
    count: () => waiting.length,
    add: (write: KeptWrite) => void waiting.push(write),
    takeAll(): KeptWrite[] {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    takeFirst: (): KeptWrite[] => waiting.splice(0, 1),
    putBack(taken: KeptWrite[]): void {
      waiting = taken.concat(waiting);
    },
    /** Refuses the writes that have waited until `waitedMs`. */
    refuse(reason: StorageError, waitedMs = Number.POSITIVE_INFINITY): void {
      const refused = waiting.filter(({ waitsUntilMs }) => waitsUntilMs <= waitedMs);
      if (refused.length === 0) return;
      waiting = waiting.filter(({ waitsUntilMs }) => waitsUntilMs > waitedMs);
      for (const { reject } of refused) reject(reason);
    },
  };
}
