import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Ids, Seal } from "../domain/ports/runtime.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { TrailStore } from "../domain/ports/trail-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { madeAtUse } from "../toolkit/made-at-use.ts";
import { type SealReport, sealSecrets } from "./sqlite/account-store/sealed-secrets.ts";
import { createAccountStore } from "./sqlite/account-store.ts";
import { type ChangeWatch, createChangeWatch } from "./sqlite/change-watch.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./sqlite/connection.ts";
import { asStorageError } from "./sqlite/errors.ts";
import { applyMigrations, type MigrationState, requireMigrated } from "./sqlite/migrate.ts";
import type { TellProgress } from "./sqlite/migrate-steps.ts";
import { MIGRATIONS } from "./sqlite/migrations.ts";
import { createSessionStore } from "./sqlite/session-store.ts";
import { createTrailStore } from "./sqlite/trail-store.ts";
import { createUsageStore } from "./sqlite/usage-store.ts";

export interface StoreOptions extends ConnectionOptions {
  /** Source of lease tokens. Without it the database generates random ones. */
  readonly ids?: Pick<Ids, "leaseToken"> | undefined;
  /** Seals callback secrets. Without it they are stored unencrypted, which is for tests. */
  readonly seal?: Seal | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
  /** Called when a migration begins, and for every 100,000 rows of a large table that it rewrites. */
  readonly onMigrating?: TellProgress | undefined;
  /** Called before the whole database is rewritten, because secrets were stored unencrypted in it. */
  readonly onScrub?: (() => void) | undefined;
}

/**
 * The stores for accounts, keys, money and usage. Each store is created on first use, because most commands end after one
 * statement.
 */
interface BookStores {
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
  readonly trail: TrailStore;
}

/** The state of an open database, and operations on it as a whole. */
export interface Opening extends Pick<Connection, "trouble" | "giveUp"> {
  /** The applied migrations. */
  readonly schema: MigrationState;
  /** Names of the migrations that opening it applied. */
  readonly migrated: readonly string[];
  /** What happened to the stored callback secrets; absent without a seal, and if `migrate` is false. */
  readonly sealing?: SealReport | undefined;
  /** Keeps the write-ahead log short; call it when idle. @returns whether the log is empty now */
  checkpoint(): boolean;
  /** Finishes requested work, then closes. Refuses later calls with `StorageError` "closed". */
  stop(): Promise<void>;
}

export interface Books extends BookStores, Opening {}

/** Books, and the dependencies of the other stores of the same database. */
export interface OpenedBooks {
  readonly books: Books;
  readonly opening: Opening;
  readonly connection: Connection;
  readonly watch: ChangeWatch;
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @throws SchemaError for a database that is newer than this program, was migrated by an edited migration, or has pending
 *   migrations that `migrate: false` forbids to apply; StorageError when it cannot be opened
 */
export function openBooks(options: StoreOptions): OpenedBooks {
  const connection = openConnection(options);
  try {
    const migrated =
      options.migrate === false
        ? []
        : connection.patiently(() => applyMigrations(connection.db, MIGRATIONS, options.onMigrating));
    const schema = requireMigrated(connection.db);
    const { seal, onScrub } = options;
    const isKept = seal === undefined || options.migrate === false;
    const sealing = isKept
      ? undefined
      : connection.patiently(() => sealSecrets(connection.db, seal, onScrub));
    const watch = createChangeWatch(connection.db);
    const stores = madeAtUse<BookStores>({
      accounts: () => createAccountStore(connection, watch, seal),
      sessions: () => createSessionStore(connection, watch),
      usage: () => createUsageStore(connection),
      trail: () => createTrailStore(connection),
    });
    const { trouble, giveUp, checkpoint, stop } = connection;
    const opening = { schema, migrated, sealing, trouble, giveUp, checkpoint, stop };
    return { books: Object.assign(stores, opening), opening, connection, watch };
  } catch (error) {
    void connection.stop();
    throw asStorageError(error) ?? error;
  }
}
