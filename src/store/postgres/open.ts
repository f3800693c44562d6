import type { CallbackStore } from "../../domain/ports/callback-store.ts";
import type { ChoiceStore } from "../../domain/ports/choice-store.ts";
import type { RetentionStore } from "../../domain/ports/retention-store.ts";
import type { Ids, Seal } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { UploadStore } from "../../domain/ports/upload-store.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import type { MigrationState } from "../sqlite/migrate.ts";
import { createAccountStore } from "./account-store.ts";
import { createCallbackStore } from "./callback-store.ts";
import { createChoiceStore } from "./choice-store.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./connection.ts";
import { createLabels, type Labels } from "./labels.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { applyMigrations, requireFit, requireMigrated } from "./migrate.ts";
import { createRetentionStore } from "./retention-store.ts";
import { createTaskStore } from "./task-store.ts";
import { createUploadStore } from "./upload-store.ts";

/** What a store is made with, on a connection that is open. */
interface StoreParts {
  /** Source of lease tokens. */
  readonly ids: Pick<Ids, "leaseToken">;
  /** Seals callback secrets. Without it they are stored in the clear, which is for tests. */
  readonly seal?: Seal | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
}

export interface StoreOptions extends ConnectionOptions, StoreParts {}

/** Each is made when it is first used. */
interface Stores {
  readonly accounts: ReturnType<typeof createAccountStore>;
  readonly callbacks: CallbackStore;
  readonly choices: ChoiceStore;
  readonly tasks: TaskStore;
  readonly retention: RetentionStore;
  readonly uploads: UploadStore;
}

/** What several stores share. */
interface Parts {
  readonly labels: Labels;
  readonly ledger: Ledger;
}

/** What is known and can be done of an open database as a whole. */
export interface Opening extends Pick<Connection, "trouble" | "giveUp"> {
  readonly schema: MigrationState;
  readonly migrated: readonly string[];
  checkpoint(): boolean;
  stop(): Promise<void>;
}

/** Opens all stores of a database. @throws SchemaError, StorageError */
export async function openStore(options: StoreOptions): Promise<Stores & Opening> {
  const connection = openConnection(options);
  try {
    return await openStoreOn(connection, options);
  } catch (error) {
    await connection.stop();
    throw error;
  }
}

/** As `openStore`, on a connection that others use, too. */
export async function openStoreOn(connection: Connection, options: StoreParts): Promise<Stores & Opening> {
  await requireFit(connection.driver);
  const migrated = options.migrate === false ? [] : await applyMigrations(connection.driver);
  const schema = await requireMigrated(connection.driver);
  const { trouble, giveUp, stop } = connection;
  // Nothing is kept apart from the database, as a log is beside a file.
  const checkpoint = () => true;
  return Object.assign(storesOn(connection, options), {
    schema,
    migrated,
    trouble,
    giveUp,
    checkpoint,
    stop,
  });
}

/** All stores of a database that is open and migrated. */
export function storesOn(connection: Connection, { ids, seal }: Pick<StoreOptions, "ids" | "seal">): Stores {
  const parts: Parts = madeAtUse<Parts>({
    labels: () => createLabels(connection.driver),
    ledger: () => createLedger(parts.labels),
  });
  return madeAtUse<Stores>({
    accounts: () => createAccountStore(connection, { ledger: parts.ledger, seal }),
    callbacks: () => createCallbackStore(connection),
    choices: () => createChoiceStore(connection),
    tasks: () => createTaskStore(connection, { ...parts, newLeaseToken: ids.leaseToken }),
    retention: () => createRetentionStore(connection, parts.labels),
    uploads: () => createUploadStore(connection),
  });
}
