import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { createAddresses } from "./runtime/address-ranges.ts";
import { createSystemClock } from "./runtime/clock.ts";
import { createIds } from "./runtime/ids.ts";
import { createSecrets } from "./runtime/secrets.ts";
import { createManageAccounts, type ManageAccounts } from "./service/manage-account.ts";
import { migrate, migrationStatus } from "./store/migrate.ts";
import { openStore } from "./store/open.ts";

type Folder = Pick<Config, "dataDir">;

/** Where in a data folder the database is. */
export const databaseOf = ({ dataDir }: Folder): string => join(dataDir, "svc.db");
/** Where in a data folder the stored files are. */
export const assetsOf = ({ dataDir }: Folder): string => join(dataDir, "assets");

/** Creates the data folder for its owner alone. @returns whether it was not there */
export function ensureDirectory(directory: string): boolean {
  if (existsSync(directory)) return false;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return true;
}

/** The accounts and keys of a data folder, whether or not a server runs on it. */
export interface Local {
  readonly manage: ManageAccounts;
  stop(): Promise<void>;
}

/**
 * Opens a data folder for a local command.
 *
 * @throws Error when there is none; SchemaError when its database is of another version
 */
export async function openLocal(config: Folder): Promise<Local> {
  const database = databaseOf(config);
  if (!existsSync(database)) {
    throw new Error(
      `There is no svc data in ${config.dataDir}. Choose another --data-dir, or start \`svc serve\` there first.`,
    );
  }
  const clock = createSystemClock();
  const ids = createIds(clock);
  // An older server may be running on this folder: only `serve` and `migrate` change its tables.
  const store = openStore({ path: database, ids, migrate: false });
  const manage = createManageAccounts({
    accounts: store.accounts,
    addresses: createAddresses(),
    clock,
    ids,
    secrets: createSecrets(),
  });
  return { manage, stop: () => store.stop() };
}

/** Where a data folder's database stands, by names of migrations. */
export interface MigrationReport {
  /** Applied by this call. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly current: number;
  readonly latest: number;
}

/** Brings a data folder's database up to date, or only says where it stands. */
export function migrateLocal(config: Folder, action: "up" | "status"): MigrationReport {
  const path = databaseOf(config);
  if (action === "up") ensureDirectory(config.dataDir);
  const applied = action === "up" ? migrate({ path }) : [];
  const state = migrationStatus({ path });
  const current = state.applied.length;
  return { applied, pending: state.pending, current, latest: current + state.pending.length };
}
