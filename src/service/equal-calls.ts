import type { Clock } from "../domain/ports/runtime.ts";

/** How long a lost connection may stay unnoticed when its client has already come back. */
const UNNOTICED_MS = 200;

/** Calls that wait for their tasks, by the scope of their request. */
export interface EqualCalls {
  /** Whether any call waits. */
  areAny(): boolean;
  /** A call waits. @returns what tells that it does no longer */
  enter(scope: string): () => void;
  /**
   * Resolves when one of the calls that wait for the same has ended, or soon. A client whose connection was lost sends its request again
   * at once, and then the loss may not have been noticed here.
   */
  settled(scope: string): Promise<void>;
}

export function createEqualCalls(clock: Pick<Clock, "after">): EqualCalls {
  const waiting = new Map<string, Set<PromiseWithResolvers<void>>>();
  return {
    areAny: () => waiting.size > 0,
    enter(scope) {
      const call = Promise.withResolvers<void>();
      const calls = waiting.getOrInsertComputed(scope, () => new Set());
      calls.add(call);
      return () => {
        calls.delete(call);
        if (calls.size === 0) waiting.delete(scope);
        call.resolve();
      };
    },
    async settled(scope) {
      const calls = waiting.get(scope);
      if (calls === undefined) return;
      const soon = Promise.withResolvers<void>();
      const cancelTimer = clock.after(UNNOTICED_MS, soon.resolve);
      await Promise.race([soon.promise, ...[...calls].map(({ promise }) => promise)]);
      cancelTimer();
    },
  };
}
