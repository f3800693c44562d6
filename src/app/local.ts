import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../catalog/catalog.ts";
import { type Config, ConfigError } from "../config/config.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { PriceCatalog } from "../domain/ports/catalog.ts";
import { PROVIDERS, providerNeeds } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { type ConfiguredPrices, readConfiguredPrices } from "../service/configured-prices.ts";
import { createManageAccounts } from "../service/manage-account.ts";
import { createManageModels } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import { openAudit } from "../store/audit.ts";
import { migrate, migrationStatus } from "../store/migrate.ts";
import { openStore } from "../store/open.ts";

type Folder = Pick<Config, "dataDir">;
type Pricing = Partial<Pick<Config, "pricing" | "configFile">>;

/** The path of the database in a data folder. */
export const databaseOf = ({ dataDir }: Folder): string => join(dataDir, "svc.db");
/** The path of the stored files in a data folder. */
export const assetsOf = ({ dataDir }: Folder): string => join(dataDir, "assets");

/** Creates the data folder, readable by its owner alone. @returns whether it was missing */
export function ensureDirectory(directory: string): boolean {
  if (existsSync(directory)) return false;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return true;
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
export async function openLocal(config: Folder & Pricing & Partial<Pick<Config, "providers">>) {
  const database = existingDatabaseOf(config);
  const clock = createSystemClock();
  const ids = createIds(clock);
  // An older server may be running on this folder: only `serve` and `migrate` change its tables.
  const store = openStore({ path: database, ids, migrate: false });
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
    models: () => createManageModels({ ...priced(), needsOf }),
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

/** Applies pending migrations to a data folder's database, or only reports them. @returns names; `applied` by this call */
export function migrateLocal(config: Folder, action: "up" | "status") {
  const path = databaseOf(config);
  if (action === "up") ensureDirectory(config.dataDir);
  const applied = action === "up" ? migrate({ path }) : [];
  const state = migrationStatus({ path });
  const current = state.applied.length;
  return { applied, pending: state.pending, current, latest: current + state.pending.length };
}
