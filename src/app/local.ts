import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../catalog/catalog.ts";
import { type Config, ConfigError } from "../config/config.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { PriceCatalog } from "../domain/ports/catalog.ts";
import type { Seal } from "../domain/ports/runtime.ts";
import { PROVIDERS, providerNeeds } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { lockDirectory } from "../runtime/directory-lock.ts";
import { createIds } from "../runtime/ids.ts";
import { type FolderContents, makePrivate } from "../runtime/private-folder.ts";
import { createSeal } from "../runtime/seal.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { createCallbackFeed } from "../runtime/signals.ts";
import { type ConfiguredPrices, readConfiguredPrices } from "../service/configured-prices.ts";
import { createManageAccounts } from "../service/manage-account.ts";
import { createManageCallbacks } from "../service/manage-callbacks.ts";
import { createManageModels } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import { openAudit } from "../store/audit.ts";
import { migrate, migrationStatus } from "../store/migrate.ts";
import { openStore } from "../store/open.ts";
import { databaseOf, type Folder } from "./data-folder.ts";

/** Another process serves from this data folder. */
export class DataDirectoryBusy extends Error {
  override readonly name = "DataDirectoryBusy";
}

type Posting = Partial<Pick<Config, "publicUrl">>;
type Pricing = Partial<Pick<Config, "pricing" | "configFile">>;

/** Holds the key that seals callback secrets, where none is given. */
const KEY_FILE = "secret.key";

type SecretKeys = Folder & Partial<Pick<Config, "secretKey" | "previousSecretKey">>;

/** What seals the secrets of a data folder. */
export function sealOf({ dataDir, secretKey, previousSecretKey }: SecretKeys): Seal {
  return createSeal({
    key: secretKey?.reveal(),
    previousKey: previousSecretKey?.reveal(),
    file: join(dataDir, KEY_FILE),
  });
}

/** What lies in a data folder and is nobody else's business. Providers keep theirs in a folder of their name. */
const CONTENTS: FolderContents = {
  files: [
    ...["", "-wal", "-shm", "-journal"].map((suffix) => `svc.db${suffix}`),
    ...["server.lock", "server.lock-journal", "bootstrap.json", "bootstrap.json.part", KEY_FILE],
  ],
  folders: ["assets", ...PROVIDERS.map(({ id }) => id)],
};

/**
 * Creates the data folder, or closes it to other users.
 *
 * @returns whether it was missing, and what was open to others
 * @throws FolderExposed when it cannot be closed
 */
export function ensureDirectory(directory: string): { isNew: boolean; closed: readonly string[] } {
  const isNew = !existsSync(directory);
  if (isNew) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const closed = makePrivate(directory, CONTENTS);
  return { isNew, closed: isNew ? [] : closed };
}

/** Reads the prices of the settings file. @throws ConfigError with every problem they have */
export function configuredPricesOf(
  { pricing = {}, configFile }: Pricing,
  catalog: PriceCatalog,
): ConfiguredPrices {
  const read = readConfiguredPrices(catalog, pricing);
  if (read.problems.length === 0) return read;
  throw new ConfigError(
    read.problems.map(({ path, message, suggestion }) => ({
      where: `${configFile}: pricing.${path}`,
      message,
      suggestion,
    })),
  );
}

/** The accounts, keys and prices of a data folder, whether or not a server runs on it. */
export type Local = Awaited<ReturnType<typeof openLocal>>;

/**
 * Opens a data folder for a local command.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function openLocal(config: SecretKeys & Pricing & Posting & Partial<Pick<Config, "providers">>) {
  const database = existingDatabaseOf(config);
  const clock = createSystemClock();
  const ids = createIds(clock);
  // An older server may be running on this folder: only `serve` and `migrate` change its tables.
  const store = openStore({ path: database, ids, migrate: false, seal: sealOf(config) });
  const manage = createManageAccounts({
    accounts: store.accounts,
    usage: store.usage,
    addresses: createAddresses(),
    clock,
    ids,
    secrets: createSecrets(),
  });
  const priced = () => {
    const catalog = createCatalog({ providers: PROVIDERS.map(({ id }) => id) });
    const configuredPrices = configuredPricesOf(config, catalog).prices;
    return { catalog, configuredPrices, prices: store.prices, clock };
  };
  const needsOf: NeedsOf = (id) => providerNeeds(id, config.providers?.[id]) ?? [id];
  return {
    manage,
    /** @throws ConfigError when the prices of the settings file cannot be used */
    prices: () => createManagePrices(priced()),
    /** Says what each model lacks, by these settings. @throws ConfigError as `prices` does */
    models: () => createManageModels({ ...priced(), needsOf, routes: store.routes }),
    /** A running server sends within a second what is to be sent again; who listens at it is not told. */
    callbacks: () =>
      createManageCallbacks({
        ...store,
        publicUrl: config.publicUrl,
        redeliveries: createCallbackFeed(),
        callbacksDue: () => {},
      }),
    stop: () => store.stop(),
  };
}

/**
 * Checks the books of a data folder. Does not hold up a server that runs on it.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function auditLocal(config: Folder): Promise<AuditReport> {
  const audit = openAudit({ path: existingDatabaseOf(config) });
  try {
    return await audit.run();
  } finally {
    audit.stop();
  }
}

function existingDatabaseOf(config: Folder): string {
  const database = databaseOf(config);
  if (existsSync(database)) return database;
  throw new Error(
    `There is no svc data in ${config.dataDir}. Choose another --data-dir, or start \`svc serve\` there first.`,
  );
}

/**
 * Applies pending migrations to a data folder's database, or only reports them.
 *
 * @returns names; `applied` by this call
 * @throws DataDirectoryBusy when migrations are to be applied and a server runs on the folder
 */
export function migrateLocal(config: Folder, action: "up" | "status") {
  const path = databaseOf(config);
  const applied = action === "up" ? migrateAlone(config) : [];
  const state = migrationStatus({ path });
  const current = state.applied.length;
  return { applied, pending: state.pending, current, latest: current + state.pending.length };
}

/** Applies migrations under the lock of the data folder: a server that runs on it expects the tables it was started with. */
function migrateAlone(config: Folder): string[] {
  ensureDirectory(config.dataDir);
  const release = lockDataDirectory(config);
  try {
    return migrate({ path: databaseOf(config) });
  } finally {
    release();
  }
}

/**
 * @returns how to release it
 * @throws DataDirectoryBusy when another process holds it
 */
export function lockDataDirectory({ dataDir }: Folder): () => void {
  const lock = lockDirectory(dataDir);
  if (lock !== undefined) return () => lock.release();
  throw new DataDirectoryBusy(`Another svc serves from ${dataDir}. Stop it, or choose another --data-dir.`);
}
