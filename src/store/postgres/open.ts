import type { CallbackStore } from "../../domain/ports/callback-store.ts";
import type { ChoiceStore } from "../../domain/ports/choice-store.ts";
import type { Ids, Seal } from "../../domain/ports/runtime.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import type { MigrationState } from "../sqlite/migrate.ts";
import { createAccountStore } from "./account-store.ts";
import { createCallbackStore } from "./callback-store.ts";
import { createChoiceStore } from "./choice-store.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./connection.ts";
import { createLabels, type Labels } from "./labels.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { applyMigrations, requireMigrated } from "./migrate.ts";

export interface StoreOptions extends ConnectionOptions {
  /** Source of lease tokens. */
  readonly ids: Pick<Ids, "leaseToken">;
  /** Seals callback secrets. Without it they are stored in the clear, which is for tests. */
  readonly seal?: Seal | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
}

/** Each is made when it is first used. */
interface Stores {
  readonly accounts: ReturnType<typeof createAccountStore>;
  readonly callbacks: CallbackStore;
  readonly choices: ChoiceStore;
}

/** What several stores share. */
interface Parts {
  readonly labels: Labels;
  readonly ledger: Ledger;
}

/** What is known and can be done of an open database as a whole. */
export interface Opening extends Pick<Connection, "trouble"> {
  readonly schema: MigrationState;
  readonly migrated: readonly string[];
  stop(): Promise<void>;
}

/** Opens all stores of a database. @throws SchemaError, StorageError */
export async function openStore(options: StoreOptions): Promise<Stores & Opening> {
  const connection = openConnection(options);
  try {
    const migrated = options.migrate === false ? [] : await applyMigrations(connection.driver);
    const schema = await requireMigrated(connection.driver);
    return Object.assign(storesOn(connection, options), { schema, migrated, ...connectionParts(connection) });
  } catch (error) {
    await connection.stop();
    throw error;
  }
}

/** All stores of a database that is open and migrated. */
export function storesOn(connection: Connection, { seal }: Pick<StoreOptions, "seal">): Stores {
  const parts: Parts = madeAtUse<Parts>({
    labels: () => createLabels(connection.driver),
    ledger: () => createLedger(parts.labels),
  });
  return madeAtUse<Stores>({
    accounts: () => createAccountStore(connection, { ledger: parts.ledger, seal }),
    callbacks: () => createCallbackStore(connection),
    choices: () => createChoiceStore(connection),
  });
}

function connectionParts({ trouble, stop }: Connection): Pick<Opening, "trouble" | "stop"> {
  return { trouble, stop };
}
