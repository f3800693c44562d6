import type { LeaseToken } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { ChoiceStore } from "../domain/ports/choice-store.ts";
import type { ImportStore } from "../domain/ports/import-store.ts";
import type { PriceStore } from "../domain/ports/price-store.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import type { SearchStore } from "../domain/ports/search-store.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TimeStore } from "../domain/ports/time-store.ts";
import type { TrailStore } from "../domain/ports/trail-store.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { madeAtUse } from "../toolkit/made-at-use.ts";
import { type OpenedBooks, type Opening, openBooks, type StoreOptions } from "./books.ts";
import { createCallbackStore } from "./sqlite/callback-store.ts";
import { createChoiceStore } from "./sqlite/choice-store.ts";
import type { Connection } from "./sqlite/connection.ts";
import { createImportStore } from "./sqlite/import-store.ts";
import { createPriceStore } from "./sqlite/price-store.ts";
import { createRemovals } from "./sqlite/removals.ts";
import { createRetentionStore } from "./sqlite/retention-store.ts";
import { createRouteStore } from "./sqlite/route-store.ts";
import { createSealStore } from "./sqlite/seal-store.ts";
import { createSearchStore } from "./sqlite/search-store.ts";
import { createTaskStore } from "./sqlite/task-store.ts";
import { createTimeStore } from "./sqlite/time-store.ts";
import { createUploadStore } from "./sqlite/upload-store.ts";

/** Each store is created on first use. */
interface Stores {
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
  readonly tasks: TaskStore;
  readonly callbacks: CallbackStore;
  readonly prices: PriceStore;
  readonly time: TimeStore;
  readonly routes: RouteStore;
  readonly retention: RetentionStore;
  readonly trail: TrailStore;
  readonly search: SearchStore;
  readonly choices: ChoiceStore;
  readonly uploads: UploadStore;
  readonly imports: ImportStore;
  readonly seals: SealStore;
}

export interface Store extends Stores, Opening {}

/** Opens all stores of a database. @throws like `openBooks` */
export function openStore(options: StoreOptions): Store {
  return storeOn(openBooks(options), options);
}

/** All stores of a database that is open. */
export function storeOn(
  { books, opening, connection, watch }: OpenedBooks,
  { ids }: Pick<StoreOptions, "ids">,
): Store {
  const newLeaseToken = ids?.leaseToken ?? randomToken(connection);
  const removals = createRemovals();
  const stores = madeAtUse<Stores>({
    accounts: () => books.accounts,
    sessions: () => books.sessions,
    usage: () => books.usage,
    tasks: () => createTaskStore(connection, { newLeaseToken, watch, removals }),
    trail: () => books.trail,
    callbacks: () => createCallbackStore(connection),
    prices: () => createPriceStore(connection, watch),
    time: () => createTimeStore(connection),
    routes: () => createRouteStore(connection, watch),
    retention: () => createRetentionStore(connection, removals),
    search: () => createSearchStore(connection),
    choices: () => createChoiceStore(connection),
    uploads: () => createUploadStore(connection),
    imports: () => createImportStore(connection),
    seals: () => createSealStore(connection),
  });
  return Object.assign(stores, opening);
}

function randomToken({ db }: Connection): () => LeaseToken {
  return () => {
    const row = db.query<{ token: LeaseToken }, []>("select lower(hex(randomblob(16))) as token").get();
    if (row === null) throw new Error("The database made no token.");
    return row.token;
  };
}
