import { openAssetStore } from "../assets/open.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { type NeedsOf, needsText } from "../domain/model/availability.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { createProviders, PROVIDERS, providerNeeds } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { lockDirectory } from "../runtime/directory-lock.ts";
import { createIds } from "../runtime/ids.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { openStore } from "../store/open.ts";
import type { Releases } from "./lifecycle.ts";
import { assetsOf, configuredPricesOf, databaseOf, ensureDirectory } from "./local.ts";

/** Replacements for tests, and what the caller does at certain events. */
export interface AppOverrides {
  readonly log?: Log;
  readonly clock?: Clock;
  readonly egress?: Egress;
  readonly providers?: readonly ProviderAdapter[];
  /** Receives the first key of a new data folder before the service reports that it is ready. */
  readonly onFirstKey?: (key: string) => void;
  /** Called when the store is damaged. The process must end; the next start continues from the disk. */
  readonly onFatal?: (error: unknown) => void;
}

/** Everything the service works with. */
export type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** Another process serves from this data folder. */
export class DataDirectoryBusy extends Error {
  override readonly name = "DataDirectoryBusy";
}

/**
 * Opens everything and adds to `releases` how to close it, also when a later step fails.
 *
 * @throws DataDirectoryBusy, SchemaError, ConfigError for prices, or what the operating system says
 */
export async function openRooms(config: Config, overrides: AppOverrides, releases: Releases) {
  const clock = overrides.clock ?? createSystemClock();
  const log = overrides.log ?? (await openServerLog(config, releases));
  const ids = createIds(clock);
  const createdDataDir = ensureDirectory(config.dataDir);
  releases.push(lockDataDirectory(config));
  const store = openStore({
    path: databaseOf(config),
    ids,
    onDamaged: (error) => {
      log.error({ err: error as Error }, "the database is damaged; stopping");
      overrides.onFatal?.(error);
    },
  });
  releases.push(() => store.stop());
  const assets = openAssetStore({
    directory: assetsOf(config),
    newTemporaryName: () => ids.create("asset"),
  });
  await assets.removeTemporary();
  const adapters = overrides.providers ?? (await createProviders({ config, clock }));
  const providers = new Map(adapters.map((provider) => [provider.id, provider]));
  releases.push(async () => {
    for (const provider of adapters) await provider.stop?.();
  });
  const needsOf: NeedsOf = (id) => (providers.has(id) ? [] : (providerNeeds(id) ?? [id]));
  if (providers.size === 0) log.warn({}, noProvider());
  const catalog = createCatalog({
    isEnabled: (id) => providers.has(id),
    providers: PROVIDERS.map(({ id }) => id),
  });
  const { prices: configuredPrices, warnings } = configuredPricesOf(config, catalog);
  for (const warning of warnings) log.warn({}, warning);
  return {
    ...{ clock, log, ids, store, assets, providers, needsOf, catalog, configuredPrices, createdDataDir },
    secrets: createSecrets(),
    addresses: createAddresses(),
    egress: overrides.egress ?? createEgress({ allow: config.egress.allow }),
  };
}

/** Says how to switch a provider on. */
function noProvider(): string {
  const needs = needsText(PROVIDERS.map((provider) => ({ needs: provider.needs() })));
  return `no provider is switched on, so that nothing can be generated; set ${needs}`;
}

/** @returns how to release it */
function lockDataDirectory({ dataDir }: Config): () => void {
  const lock = lockDirectory(dataDir);
  if (lock !== undefined) return () => lock.release();
  throw new DataDirectoryBusy(`Another svc serves from ${dataDir}. Stop it, or choose another --data-dir.`);
}

async function openServerLog(config: Config, releases: Releases): Promise<Log> {
  // Loaded late: it imports pino, which a caller with its own log does not need.
  const { openLog } = await import("../runtime/log.ts");
  const { level, format } = config.log;
  const log = await openLog({
    level,
    format: format === "auto" ? (process.stderr.isTTY ? "pretty" : "json") : format,
  });
  releases.push(() => log.flush());
  return log;
}
