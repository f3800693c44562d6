import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { CallbackStore } from "../../domain/ports/callback-store.ts";
import type { ChoiceStore } from "../../domain/ports/choice-store.ts";
import type { ImportStore } from "../../domain/ports/import-store.ts";
import type { PriceStore } from "../../domain/ports/price-store.ts";
import type { RetentionStore } from "../../domain/ports/retention-store.ts";
import type { RouteStore } from "../../domain/ports/route-store.ts";
import type { Ids, Seal } from "../../domain/ports/runtime.ts";
import type { SealStore } from "../../domain/ports/seal-store.ts";
import type { SearchStore } from "../../domain/ports/search-store.ts";
import type { SessionStore } from "../../domain/ports/session-store.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { TimeStore } from "../../domain/ports/time-store.ts";
import type { TrailStore } from "../../domain/ports/trail-store.ts";
import type { UploadStore } from "../../domain/ports/upload-store.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import type { SealReport } from "../sqlite/account-store/sealed-secrets.ts";
import type { MigrationState } from "../sqlite/migrate.ts";
import { sealSecrets } from "./account-store/sealed-secrets.ts";
import { createAccountStore } from "./account-store.ts";
import { createCallbackStore } from "./callback-store.ts";
import { type ChangeWatch, createChangeWatch } from "./change-watch.ts";
import { createChoiceStore } from "./choice-store.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./connection.ts";
import { requireFit, requireRights } from "./fit.ts";
import { createImportStore } from "./import-store.ts";
import { createLabels, type Labels } from "./labels.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { applyMigrations, requireMigrated } from "./migrate.ts";
import { requireHere } from "./moved-away.ts";
import { openPriceStore } from "./price-store.ts";
import type { Readers } from "./replica.ts";
import { createRetentionStore } from "./retention-store.ts";
import { createRouteStore } from "./route-store.ts";
import { createSealStore } from "./seal-store.ts";
import { createSearchStore } from "./search-store.ts";
import { createSessionStore } from "./session-store.ts";
import { createTaskStore } from "./task-store.ts";
import { createTimeStore } from "./time-store.ts";
import { createTrailStore } from "./trail-store.ts";
import { createUploadStore } from "./upload-store.ts";
import { createUsageStore } from "./usage-store.ts";

/** The dependencies of a store, on an open connection. */
interface StoreParts {
  /** Source of lease tokens. */
  readonly ids: Pick<Ids, "leaseToken">;
  /** Seals callback secrets. Without it they are stored unencrypted, which is for tests. */
  readonly seal?: Seal | undefined;
  /** `false` refuses a database with pending migrations instead of applying them. */
  readonly migrate?: boolean | undefined;
  /** `false` for programs that end soon: they do not listen for changes by other processes. */
  readonly watches?: boolean | undefined;
  /** Answers lists and reports that may be some seconds old; the connection itself unless given. */
  readonly readers?: Readers | undefined;
  /**
   * Whether this process has reached the database for so long that all others could, too, so that silent ones are gone. Always unless
   * given.
   */
  readonly isSteady?: (() => boolean) | undefined;
  /** The nodes that are silent by the clock of this process, too; all that are by the database's unless given. */
  readonly silent?: (() => readonly string[]) | undefined;
}

export interface StoreOptions extends ConnectionOptions, StoreParts {}

/** Each store is created on first use. */
interface Stores {
  readonly accounts: AccountStore;
  readonly callbacks: CallbackStore;
  readonly choices: ChoiceStore;
  readonly imports: ImportStore;
  readonly prices: PriceStore;
  readonly routes: RouteStore;
  readonly sessions: SessionStore;
  readonly tasks: TaskStore;
  readonly retention: RetentionStore;
  readonly uploads: UploadStore;
  readonly time: TimeStore;
  readonly trail: TrailStore;
  readonly search: SearchStore;
  readonly seals: SealStore;
  readonly usage: UsageStore;
}

/** Dependencies that several stores share. */
interface Parts {
  readonly labels: Labels;
  readonly ledger: Ledger;
}

/** The state of an open database, and operations on it as a whole. */
export interface Opening extends Pick<Connection, "trouble" | "giveUp"> {
  readonly schema: MigrationState;
  readonly migrated: readonly string[];
  /** What happened to the stored callback secrets; absent without a seal, and if `migrate` is false. */
  readonly sealing?: SealReport | undefined;
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

/** Like `openStore`, on a connection that others also use. */
export async function openStoreOn(connection: Connection, options: StoreParts): Promise<Stores & Opening> {
  const { migrated, schema } = await connection.opening(async () => {
    await requireFit(connection.driver);
    const migrated = options.migrate === false ? [] : await applyMigrations(connection.driver);
    const schema = await requireMigrated(connection.driver);
    await requireHere(connection.driver);
    await requireRights(connection.driver);
    return { migrated, schema };
  });
  const { seal } = options;
  const isKept = seal === undefined || options.migrate === false;
  const sealing = isKept ? undefined : await sealSecrets(connection, seal);
  const watch = createChangeWatch(connection.driver);
  const prices = await openPriceStore(connection, watch);
  if (options.watches !== false) watch.start();
  return Object.assign(storesOn(connection, { ...options, watch, prices }), {
    ...{ schema, migrated, sealing },
    ...{ trouble: connection.trouble, giveUp: connection.giveUp },
    // There is nothing to do here, because no log is kept apart from the database, as next to a file.
    checkpoint: () => true,
    async stop() {
      watch.stop();
      await connection.stop();
    },
  });
}

interface Shared extends Pick<StoreParts, "ids" | "seal" | "readers" | "isSteady" | "silent"> {
  readonly watch: ChangeWatch;
  /** The prices that were set are already in memory. */
  readonly prices: PriceStore;
}

/** All stores of a database that is open and migrated. */
function storesOn(connection: Connection, { ids, seal, watch, prices, readers, ...shared }: Shared): Stores {
  const { isSteady, silent } = shared;
  const parts: Parts = madeAtUse<Parts>({
    labels: () => createLabels(connection.driver),
    ledger: () => createLedger(parts.labels),
  });
  return madeAtUse<Stores>({
    accounts: () => createAccountStore(connection, { ledger: parts.ledger, watch, seal, readers }),
    callbacks: () => createCallbackStore(connection),
    choices: () => createChoiceStore(connection),
    imports: () => createImportStore(connection, parts),
    prices: () => prices,
    routes: () => createRouteStore(connection, watch),
    sessions: () => createSessionStore(connection, watch),
    time: () => createTimeStore(connection),
    trail: () => createTrailStore(connection, readers),
    tasks: () =>
      createTaskStore(connection, { ...parts, newLeaseToken: ids.leaseToken, readers, isSteady, silent }),
    retention: () => createRetentionStore(connection, parts.labels),
    search: () => createSearchStore(connection),
    seals: () => createSealStore(connection),
    uploads: () => createUploadStore(connection),
    usage: () => createUsageStore(connection, readers),
  });
}
