import type { Clock } from "../domain/ports/runtime.ts";

/** How long a lost connection may stay unnoticed after its client has come back. */
const UNNOTICED_MS = 200;

/** Calls that wait for their tasks, by the scope of their request. */
export interface EqualCalls {
  /** Whether any call waits. */
  areAny(): boolean;
  /** Registers a waiting call. @returns a function to call when it no longer waits */
  enter(scope: string): () => void;
  /**
   * Resolves when one of the calls that wait for the same request has ended, or after a short time. A client that lost its
   * connection repeats its request at once, when this service may not have noticed the loss yet.
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
