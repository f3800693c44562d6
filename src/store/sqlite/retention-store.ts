import type { RetentionStore } from "../../domain/ports/retention-store.ts";
import type { Connection } from "./connection.ts";
import type { Removals } from "./removals.ts";
import { prepareAnonymise, prepareRemainsOf, prepareTasksOf } from "./retention-store/account.ts";
import { prepareAssetPage, prepareContentsAfter, prepareMarkDamaged } from "./retention-store/contents.ts";
import { prepareExpire } from "./retention-store/expire.ts";
import { prepareExpired, prepareFilesDue } from "./retention-store/expiry.ts";
import { prepareNeededContents, prepareRemove } from "./retention-store/remove.ts";
import { prepareSums } from "./retention-store/sum-up.ts";
import { prepareTrail } from "./trail.ts";

/** Removes data from SQLite that is no longer kept. Each write is one operation of the connection's group commit. */
export function createRetentionStore(
  connection: Connection,
  { removed }: Pick<Removals, "removed">,
): RetentionStore {
  const { db, read, write } = connection;
  const [remove, neededContents] = [prepareRemove(db, removed), prepareNeededContents(db)];
  const [contentsAfter, assets] = [prepareContentsAfter(db), prepareAssetPage(db)];
  const markDamaged = prepareMarkDamaged(db, removed);
  const [expired, filesDue] = [prepareExpired(db), prepareFilesDue(db)];
  const expire = prepareExpire(db, { remove, tell: removed });
  const sums = prepareSums(connection);
  const [tasksOf, anonymise] = [prepareTasksOf(db), prepareAnonymise(db, prepareTrail(db))];
  const remainsOf = prepareRemainsOf(db);
  return {
    tasksOf: async (account, limit) => read(() => tasksOf(account, limit)),
    anonymise: (account, act) => write(() => anonymise(account, act)),
    remainsOf: async (account) => read(() => remainsOf(account)),
    expired: async (query) => read(() => expired(query)),
    filesDue: async (now, limit) => read(() => filesDue(now, limit)),
    expire: (kinds, ids, now) => write(() => expire(kinds, ids, now)),
    remove: (id, at, owner) => write(() => remove(id, at, owner)),
    removed: async (query) => read(() => sums.removed(query)),
    sumUp: (ids) => write(() => ids.forEach(sums.sumUp)),
    contentsAfter: async (sha256, limit) => read(() => contentsAfter(sha256, limit)),
    markDamaged: (sha256, isDamaged) => write(() => markDamaged(sha256, isDamaged)),
    assets: async (query) => read(() => assets(query)),
    neededContents: async (contents) => read(() => neededContents(contents)),
  };
}
