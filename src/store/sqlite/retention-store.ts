import type { RetentionStore } from "../../domain/ports/retention-store.ts";
import type { Connection } from "./connection.ts";
import type { Removals } from "./removals.ts";
import { prepareNeededContents, prepareRemove } from "./retention-store/remove.ts";

/** What goes from SQLite, and what must stay. Each write is one operation of the connection's group commit. */
export function createRetentionStore(
  { db, read, write }: Connection,
  { removed }: Pick<Removals, "removed">,
): RetentionStore {
  const [remove, neededContents] = [prepareRemove(db, removed), prepareNeededContents(db)];
  return {
    remove: (id, owner) => write(() => remove(id, owner)),
    neededContents: async (contents) => read(() => neededContents(contents)),
  };
}
