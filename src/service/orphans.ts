import type { TaskId } from "../domain/ids.ts";
import { ORPHAN_KEEP_MS } from "../domain/limits.ts";

/** Beyond this number, the oldest task is forgotten. At worst, the next equal request generates again. */
const MAX_ORPHANS = 10_000;

/**
 * Tasks whose caller stopped waiting, by the scope of their request. The next equal request adopts one, so that a client library
 * that repeats a request does not pay twice (docs/api.md 5.4).
 */
export function createOrphans() {
  /** In the order in which their callers left. */
  const left = new Map<TaskId, { readonly scope: string; readonly at: number }>();
  const byScope = new Map<string, Set<TaskId>>();

  function remove(id: TaskId, scope: string): void {
    left.delete(id);
    const siblings = byScope.get(scope);
    siblings?.delete(id);
    if (siblings?.size === 0) byScope.delete(scope);
  }

  function forgetOld(now: number): void {
    for (const [id, { scope, at }] of left) {
      if (now - at < ORPHAN_KEEP_MS && left.size <= MAX_ORPHANS) return;
      remove(id, scope);
    }
  }

  return {
    /** Whether any task is left, so that most requests need no comparison. */
    any: (): boolean => left.size > 0,
    add(scope: string, id: TaskId, now: number): void {
      left.set(id, { scope, at: now });
      const siblings = byScope.get(scope) ?? new Set();
      byScope.set(scope, siblings.add(id));
      forgetOld(now);
    },
    /** Removes and returns the task of this scope whose caller left first, if one left recently. */
    adopt(scope: string, now: number): TaskId | undefined {
      if (left.size === 0) return undefined;
      forgetOld(now);
      const [id] = byScope.get(scope) ?? [];
      if (id !== undefined) remove(id, scope);
      return id;
    },
    /** All that are left, by their scopes. */
    all: (): (readonly [scope: string, id: TaskId])[] => [...left].map(([id, { scope }]) => [scope, id]),
    /** A task was adopted by another process, or its caller still waits. @param at when it was added, if only that counts */
    forget(id: TaskId, at?: number): void {
      const known = left.get(id);
      if (known !== undefined && (at === undefined || known.at === at)) remove(id, known.scope);
    },
  };
}

export interface Orphans extends ReturnType<typeof createOrphans> {
  /** Looks whether other processes have gone, and adds what their callers left. Absent if there can be none. */
  lookAgain?(): Promise<void>;
}
