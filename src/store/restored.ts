import type { Ids } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TrailStore } from "../domain/ports/trail-store.ts";
import type { Lease } from "../domain/task/task.ts";
import { openBooks } from "./books.ts";
import { storeOn } from "./open.ts";
import { prepareUnsent } from "./sqlite/task-store/unsent.ts";

/** The database of a restored backup, before it is served. Nobody else uses it. */
export interface RestoredStore {
  readonly tasks: Pick<TaskStore, "apply" | "counts">;
  readonly trail: Pick<TrailStore, "note">;
  /** Leases some of the live tasks that no upstream is known to have; none when all have ended. */
  unsent(limit: number, until: number): Promise<Lease[]>;
  stop(): Promise<void>;
}

/**
 * Opens it and brings its tables up to date.
 *
 * @throws SchemaError for one of a later version; StorageError when it cannot be opened or written
 */
export function openRestored(options: { path: string; ids: Pick<Ids, "leaseToken"> }): RestoredStore {
  const opened = openBooks(options);
  const { tasks, trail } = storeOn(opened, options);
  const unsent = prepareUnsent(opened.connection, options.ids.leaseToken);
  return {
    ...{ tasks, trail },
    unsent: (limit, until) => opened.connection.write(() => unsent(limit, until)),
    stop: opened.books.stop,
  };
}
