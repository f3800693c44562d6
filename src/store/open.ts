import type { LeaseToken } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { PriceStore } from "../domain/ports/price-store.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { Ids, Seal } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TimeStore } from "../domain/ports/time-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { type SealReport, sealSecrets } from "./sqlite/account-store/sealed-secrets.ts";
import { createAccountStore } from "./sqlite/account-store.ts";
import { createCallbackStore } from "./sqlite/callback-store.ts";
import { createChangeWatch } from "./sqlite/change-watch.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./sqlite/connection.ts";
import { asStorageError } from "./sqlite/errors.ts";
import { applyMigrations, type MigrationState, requireMigrated } from "./sqlite/migrate.ts";
import { createPriceStore } from "./sqlite/price-store.ts";
import { createRouteStore } from "./sqlite/route-store.ts";
import { createTaskStore } from "./sqlite/task-store.ts";
import { createTimeStore } from "./sqlite/time-store.ts";
import { createUsageStore } from "./sqlite/usage-store.ts";

export interface StoreOptions extends ConnectionOptions {
  /** Source of lease tokens; without it the database makes random ones. */
  readonly ids?: Pick<Ids, "leaseToken"> | undefined;
  /** Seals callback secrets. Without it they are stored in the clear, which is for tests. */
  readonly seal?: Seal | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
}

export interface Store extends Pick<Connection, "trouble" | "giveUp"> {
  readonly tasks: TaskStore;
  readonly accounts: AccountStore;
  readonly callbacks: CallbackStore;
  readonly usage: UsageStore;
  readonly prices: PriceStore;
  readonly time: TimeStore;
  readonly routes: RouteStore;
  /** The applied migrations. */
  readonly schema: MigrationState;
  /** Names of the migrations that opening it applied. */
  readonly migrated: readonly string[];
  /** What became of the stored callback secrets; absent without a seal, and where `migrate` is false. */
  readonly sealing?: SealReport | undefined;
  /** Keeps the write-ahead log short; call it when idle. @returns whether the log is empty now */
  checkpoint(): boolean;
  /** Finishes what was requested, then closes. Refuses later calls with `StorageError` "closed". */
  stop(): Promise<void>;
}

/**
 * Opens the store and brings its tables up to date.
 *
 * @throws SchemaError for a database that is newer than this program, was migrated by an edited migration, or has pending
 *   migrations that `migrate: false` forbids to apply; StorageError when it cannot be opened
 */
export function openStore(options: StoreOptions): Store {
  const connection = openConnection(options);
  try {
    const migrated =
      options.migrate === false ? [] : connection.patiently(() => applyMigrations(connection.db));
    const schema = requireMigrated(connection.db);
    const { seal } = options;
    const isKept = seal === undefined || options.migrate === false;
    const sealing = isKept ? undefined : connection.patiently(() => sealSecrets(connection.db, seal));
    const watch = createChangeWatch(connection.db);
    const newLeaseToken = options.ids?.leaseToken ?? randomToken(connection);
    const isBrief = options.migrate === false;
    const tasks = made(() => createTaskStore(connection, { newLeaseToken }), isBrief);
    const callbacks = made(() => createCallbackStore(connection), isBrief);
    return {
      get tasks() {
        return tasks();
      },
      get callbacks() {
        return callbacks();
      },
      accounts: createAccountStore(connection, watch, seal),
      usage: createUsageStore(connection),
      prices: createPriceStore(connection, watch),
      time: createTimeStore(connection),
      routes: createRouteStore(connection),
      schema,
      migrated,
      sealing,
      trouble: connection.trouble,
      giveUp: connection.giveUp,
      checkpoint: connection.checkpoint,
      stop: connection.stop,
    };
  } catch (error) {
    void connection.stop();
    throw asStorageError(error) ?? error;
  }
}

/**
 * Makes a store now, or, for a command that may end without it, when it is first used: these two prepare so many statements that it
 * takes a third of the time of such a command.
 */
function made<T>(make: () => T, isBrief: boolean): () => T {
  let store: { readonly value: T } | undefined = isBrief ? undefined : { value: make() };
  return () => {
    store ??= { value: make() };
    return store.value;
  };
}

function randomToken({ db }: Connection): () => LeaseToken {
  const random = db.prepare<{ token: LeaseToken }, []>("select lower(hex(randomblob(16))) as token");
  return () => {
    const row = random.get();
    if (row === null) throw new Error("The database made no token.");
    return row.token;
  };
}
