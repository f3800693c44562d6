import type { LeaseToken } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { PriceStore } from "../domain/ports/price-store.ts";
import type { Ids } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { createAccountStore } from "./sqlite/account-store.ts";
import { createCallbackStore } from "./sqlite/callback-store.ts";
import { createChangeWatch } from "./sqlite/change-watch.ts";
import { type Connection, openConnection } from "./sqlite/connection.ts";
import { asStorageError } from "./sqlite/errors.ts";
import { applyMigrations, type MigrationState, requireMigrated } from "./sqlite/migrate.ts";
import { createPriceStore } from "./sqlite/price-store.ts";
import { createTaskStore } from "./sqlite/task-store.ts";
import { createUsageStore } from "./sqlite/usage-store.ts";

export interface StoreOptions {
  /** A file, created if missing, or `:memory:`. */
  readonly path: string;
  /** Source of lease tokens; without it the database makes random ones. */
  readonly ids?: Pick<Ids, "leaseToken"> | undefined;
  /** Called once, when continuing could do harm. Refuses every later write; the process should stop. */
  readonly onDamaged?: ((error: unknown) => void) | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
}

export interface Store {
  readonly tasks: TaskStore;
  readonly accounts: AccountStore;
  readonly callbacks: CallbackStore;
  readonly usage: UsageStore;
  readonly prices: PriceStore;
  /** The applied migrations. */
  readonly schema: MigrationState;
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
    if (options.migrate !== false) applyMigrations(connection.db);
    const schema = requireMigrated(connection.db);
    const watch = createChangeWatch(connection.db);
    return {
      tasks: createTaskStore(connection, {
        newLeaseToken: options.ids?.leaseToken ?? randomToken(connection),
      }),
      accounts: createAccountStore(connection, watch),
      callbacks: createCallbackStore(connection),
      usage: createUsageStore(connection),
      prices: createPriceStore(connection, watch),
      schema,
      checkpoint: connection.checkpoint,
      stop: connection.stop,
    };
  } catch (error) {
    void connection.stop();
    throw asStorageError(error) ?? error;
  }
}

function randomToken({ db }: Connection): () => LeaseToken {
  const random = db.prepare<{ token: LeaseToken }, []>("select lower(hex(randomblob(16))) as token");
  return () => {
    const row = random.get();
    if (row === null) throw new Error("The database made no token.");
    return row.token;
  };
}
