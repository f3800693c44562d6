import type { AssetId, TaskId } from "../../domain/ids.ts";

export type Told = (id: TaskId, ofAssets: readonly AssetId[]) => void;

export type Removals = ReturnType<typeof createRemovals>;

/** Tells the caches of tasks and assets that some were removed. */
export function createRemovals() {
  const listeners: Told[] = [];
  return {
    onRemoved: (told: Told) => void listeners.push(told),
    /** Called in the transaction that removes them: nothing is read before its commit. */
    removed: ((id, ofAssets) => {
      for (const told of listeners) told(id, ofAssets);
    }) as Told,
  };
}
