import type { TaskId } from "../domain/ids.ts";
import { ORPHAN_KEEP_MS } from "../domain/limits.ts";

/** More than this many at once are the oldest's loss: they only ever cost a second generation. */
const MAX_ORPHANS = 10_000;

/**
 * Tasks whose creator stopped waiting for them, by what makes a request the same one. The next equal request takes one over,
 * so that a client library that sends a request again does not pay for it again (§4.5).
 */
export interface Orphans {
  add(scope: string, id: TaskId, now: number): void;
  /** The task left longest of those with this scope, if one was left lately; nobody else gets it. */
  adopt(scope: string, now: number): TaskId | undefined;
}

export function createOrphans(): Orphans {
  /** In the order they were left. */
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
    add(scope, id, now) {
      left.set(id, { scope, at: now });
      const siblings = byScope.get(scope) ?? new Set();
      byScope.set(scope, siblings.add(id));
      forgetOld(now);
    },
    adopt(scope, now) {
      if (left.size === 0) return undefined;
      forgetOld(now);
      const [id] = byScope.get(scope) ?? [];
      if (id !== undefined) remove(id, scope);
      return id;
    },
  };
}
