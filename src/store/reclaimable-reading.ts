import { existsSync } from "node:fs";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";
import { prepareReclaimable } from "./sqlite/reclaimable.ts";
import { prepareNeededContents } from "./sqlite/retention-store/remove.ts";

export type { KeptBytes, KeptFile } from "./sqlite/reclaimable.ts";

/**
 * Opens a database to count what could be removed. Each read is a transaction of its own, because a long one would keep a
 * server's log from becoming shorter.
 *
 * @param isInUse whether a process may write to it meanwhile
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function openReclaimable({ path, isInUse }: { readonly path: string; readonly isInUse: boolean }) {
  const db = openForReading(path, !isInUse && !existsSync(`${path}-wal`));
  try {
    translating(() => requireMigrated(db));
    const prepared = prepareReclaimable(db);
    const needed = prepareNeededContents(db);
    return {
      files: (after: number, limit: number) => translating(() => prepared.files(after, limit)),
      callbacks: (after: number, limit: number) => translating(() => prepared.callbacks(after, limit)),
      freePages: () => translating(prepared.freePages),
      /** The contents among these that a task has. */
      neededContents: async (contents: readonly string[]) => translating(() => needed(contents)),
      stop: () => db.stop(),
    };
  } catch (error) {
    db.stop();
    throw error;
  }
}
