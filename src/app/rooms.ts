import { requireSafeNativeFolder } from "../assets/native.ts";
import type { Config } from "../config/config.ts";
import type { ProviderId } from "../domain/ids.ts";
import { needsText } from "../domain/model/availability.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { LeveledLog, Log, SteadyClock } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { createFacadeParts } from "../http/facades/callback-forms.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { lockFileOf } from "../runtime/directory-lock.ts";
import { watchFolder } from "../runtime/folder-watch.ts";
import { createIds } from "../runtime/ids.ts";
import type { RunningLog } from "../runtime/log.ts";
import { LogFile } from "../runtime/log-file.ts";
import { createSecrets } from "../runtime/secrets.ts";
import type { FirstKeyKeeper } from "../service/first-key.ts";
import { createHookTokens } from "../service/hooks.ts";
import { createInputAddresses } from "../service/input-addresses.ts";
import type { StoreOptions } from "../store/books.ts";
import { openStore } from "../store/open.ts";
import type { SealReport } from "../store/sqlite/account-store/sealed-secrets.ts";
import { openAssets } from "./assets.ts";
import { copyLogAside } from "./book-readings.ts";
import { openCluster } from "./cluster.ts";
import { assetsOf, databaseOf, ensureDirectory, lockForServer, logsOf, sealOf } from "./data-folder.ts";
import { requireDatabaseOfFiles } from "./files-without-database.ts";
import { createFlushThread } from "./flush-thread.ts";
import type { Releases } from "./lifecycle.ts";
import { openModels } from "./models.ts";
import { followModeration } from "./moderation.ts";
import { openProviders } from "./providers.ts";
import { createRelays } from "./relays.ts";
import { sharedFiles } from "./shared-files.ts";
import type { OpenTaping } from "./taping.ts";

/** Replacements for tests, and what the caller does at certain events. */
export interface AppOverrides {
  readonly log?: Log;
  /** Whether the log for people is coloured. */
  readonly isColoured?: boolean;
  readonly clock?: SteadyClock;
  readonly egress?: Egress;
  readonly providers?: readonly ProviderAdapter[];
  /** How exchanges with providers are recorded, or answered from recordings. */
  readonly openTaping?: OpenTaping | undefined;
  /** Where the first key of a new data folder waits. */
  readonly firstKeyKeeper?: FirstKeyKeeper;
  /** Whether the first start makes a link that opens the console, for whoever started it. */
  readonly wantsConsoleLink?: boolean;
  /** Called when the store is damaged or its folder is gone. The process must end; the next start continues from the disk. */
  readonly onFatal?: (error: unknown) => void;
  /** Reads the settings again, for a service that applies them while it runs. @throws ConfigError */
  readonly readSettings?: (() => Config) | undefined;
  /** The sign of the settings file when it was read. */
  readonly readSign?: string;
}

/** Everything the service works with. */
export type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** A half-written file in a folder that nodes share belongs to an ended node if nobody wrote to it for this long. */
export const LEFT_AFTER_MS = 30 * 60_000;

/** The data folder is no longer at the path where it was opened. */
export class DataFolderGone extends Error {
  override readonly name = "DataFolderGone";
}

/**
 * Opens everything and adds the functions that close it to `releases`, even if a later step fails.
 *
 * @throws DataDirectoryBusy, SchemaError, ConfigError for prices, or what the operating system says
 */
export async function openRooms(config: Config, overrides: AppOverrides, releases: Releases) {
  const log = await openLogOf(config, overrides, releases);
  const cluster = await openCluster(config, { log, onFatal: overrides.onFatal }, releases);
  const clock = overrides.clock ?? createSystemClock(cluster?.now);
  const ids = createIds(clock);
  requireSafeNativeFolder();
  const { isNew: createdDataDir, closed } = ensureDirectory(config.dataDir);
  if (closed.length > 0)
    log.warn(exposureOf(config, closed), "the data folder was open to other users; it is closed now");
  releases.push(await lockForServer(config, createSystemClock()));
  if (cluster === undefined) await requireDatabaseOfFiles(config);
  keepLog(config, log, releases);
  const seal = sealOf(config);
  const store =
    (await cluster?.open({ ids, seal })) ?? openServerStore(config, { ids, log, seal, overrides });
  releases.push(() => store.stop());
  tellSealing(log, store.sealing);
  const { retention } = store;
  const onTaken = ({ message }: Error) => overrides.onFatal?.(new DataFolderGone(message));
  const claiming = { retention, owner: cluster?.owner, onTaken };
  const opened = await openAssets(config, { clock, ids, log, ...claiming }, releases);
  const { assets, ...files } = cluster ? sharedFiles(opened, { retention, now: clock.now }) : opened;
  await assets.removeTemporary(cluster && LEFT_AFTER_MS);
  releases.push(watchDataFolder(config, clock, overrides));
  const network = overrides.egress ?? openEgress(config);
  const taping = await overrides.openTaping?.({ clock, log }, releases);
  const egress = taping?.egress(network) ?? network;
  const moderation = await followModeration(config, { clock, egress, log });
  const opening = { clock, log, egress, taping, routes: store.routes, workers: cluster?.workers };
  const { providerIds, onProviders, ...offered } = await openProviders(
    config,
    { ...opening, adapters: overrides.providers },
    releases,
  );
  const { providers, routing } = offered;
  if (providers.size === 0) log.warn({}, noProvider());
  const tellAddresses = addressTelling(config, log, providers);
  tellAddresses();
  const takesFiles = (id: ProviderId) => config.publicUrl !== undefined || !needsAddresses(providers, id);
  const offering = { isEnabled: routing.has, takesFiles, providers: providerIds };
  const relays = createRelays({ adapters: offered.adapters, clock, log });
  const { onProvidersChanged, ...models } = openModels(
    config,
    { ...offering, relays: relays.relays, adapters: offered.adapters, clock, log },
    releases,
  );
  for (const each of [onProvidersChanged, tellAddresses]) onProviders(each);
  relays.onChange(onProvidersChanged);
  const secrets = createSecrets();
  return {
    ...createFacadeParts({ tasks: store.tasks, catalog: models.catalog, secrets, seal, clock }),
    ...{ clock, log, ids, seal, store, cluster, assets, ...files },
    ...{ egress, taping, moderation, createdDataDir, providerIds },
    ...{ relays, ...offered, ...models },
    inputAddresses: createInputAddresses({ assets, clock, seal }),
    hookTokens: createHookTokens({ seal }),
    secrets,
    addresses: createAddresses(),
  };
}

function openServerStore(
  config: Config,
  {
    ids,
    seal,
    log,
    overrides,
  }: Pick<StoreOptions, "ids" | "seal"> & {
    log: Log & Partial<Pick<RunningLog, "flush">>;
    overrides: AppOverrides;
  },
) {
  const path = databaseOf(config);
  const tellNow: Log["info"] = (fields, message) => {
    log.info(fields, message);
    // What is told of holds up the event loop, and with it the log's timer.
    log.flush?.();
  };
  return openStore({
    path,
    copyAside: () => copyLogAside(path),
    flushThread: createFlushThread(),
    ids,
    seal,
    onDamaged: (error) => {
      log.error({ err: error as Error }, "the database is damaged; stopping");
      overrides.onFatal?.(error);
    },
    onMigrating: ({ name, slice }) =>
      tellNow({ migration: name, ...slice }, "bringing the database up to date"),
    onScrub: () =>
      tellNow({}, "rewriting the database, without the callback secrets that were stored in the clear"),
    onOutage: ({ kind }) => log.error({ reason: kind }, "the database cannot be written; trying again"),
    onOutageEnded: (ms) => log.warn({ ms }, "the database can be written again"),
  });
}

/** Logs what happened to the callback secrets, and what to do about those that cannot be opened. */
function tellSealing(log: Log, { sealed = 0, locked = [], leftOver }: Partial<SealReport> = {}): void {
  if (sealed > 0) log.info({ count: sealed }, "callback secrets were sealed with the key in use");
  if (leftOver !== undefined)
    log.warn(
      { reason: leftOver },
      "copies of callback secrets may be left in the database file; the next start tries to remove them again",
    );
  if (locked.length === 0) return;
  const way =
    "give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, put secret.key back, or give the keys new secrets (svc keys update NAME --callback-secret new)";
  const what = "callback secrets are sealed with another key; the callbacks of these keys wait";
  log.error({ keys: locked.slice(0, NAMED), count: locked.length }, `${what}: ${way}`);
}

/** Most paths or keys that a line of the log lists. */
const NAMED = 20;

function exposureOf({ dataDir }: Config, closed: readonly string[]) {
  return { data_dir: dataDir, closed: closed.slice(0, NAMED), count: closed.length };
}

/** Logs each provider that takes files only by their address, if this service has no public address. */
function addressTelling({ publicUrl }: Config, log: Log, providers: Rooms["providers"]): () => void {
  let told = new Set<ProviderId>();
  return () => {
    if (publicUrl !== undefined) return;
    const ids = new Set(
      [...providers.values()].flatMap(({ id, needsInputUrls }) => (needsInputUrls ? id : [])),
    );
    for (const provider of ids.difference(told)) {
      const what = `${provider} fetches input files from this service, so requests with files cannot go there; set public_url`;
      log.warn({ provider }, what);
    }
    told = ids;
  };
}

function needsAddresses(providers: Rooms["providers"], provider: ProviderId): boolean {
  for (const { id, needsInputUrls } of providers.values()) if (id === provider && needsInputUrls) return true;
  return false;
}

/** Says how to switch a provider on. */
function noProvider(): string {
  const needs = needsText(PROVIDERS.map((provider) => ({ needs: provider.needs() })));
  return `no provider is switched on, so that nothing can be generated; set ${needs}`;
}

/** @returns how to stop */
function watchDataFolder(config: Config, clock: SteadyClock, { onFatal }: AppOverrides): () => void {
  const { dataDir } = config;
  const database = config.database === undefined ? [databaseOf(config)] : [];
  const paths = [dataDir, ...database, lockFileOf(dataDir), assetsOf(config)];
  return watchFolder(paths, {
    clock,
    onGone: (path) => {
      const what = `The data folder ${dataDir} was moved, deleted or replaced while the server ran`;
      onFatal?.(new DataFolderGone(`${what} (${path} is not what was opened). Put it back and start again.`));
    },
  });
}

/** Keeps the log in the data folder, where the settings want it and the log is our own. */
function keepLog(config: Config, log: LeveledLog & Partial<RunningLog>, releases: Releases): void {
  const { keptMb } = config.log;
  if (keptMb === 0 || log.keepIn === undefined) return;
  const file = new LogFile({
    folder: logsOf(config),
    mostBytes: keptMb * 1_000_000,
    onTrouble: (error) => log.warn({ reason: error.message }, "the log cannot be kept in the data folder"),
  });
  log.keepIn(file);
  releases.push(() => {
    log.flush?.();
    file.stop();
  });
}

async function openLogOf(
  config: Config,
  { log, isColoured = false }: AppOverrides,
  releases: Releases,
): Promise<LeveledLog> {
  if (log === undefined) return openServerLog(config, isColoured, releases);
  let { level } = config.log;
  const setLevel = (next: typeof level) => {
    level = next;
  };
  // The caller's log itself decides what it writes.
  return { ...log, level: () => level, setLevel };
}

async function openServerLog(config: Config, isColoured: boolean, releases: Releases): Promise<RunningLog> {
  // Loaded late: it imports pino, which a caller with its own log does not need.
  const { openLog } = await import("../runtime/log.ts");
  const { level, format } = config.log;
  const log = await openLog({
    level,
    isColoured,
    format: format === "auto" ? (process.stderr.isTTY ? "pretty" : "json") : format,
  });
  releases.push(log.end);
  return log;
}

function openEgress(config: Config): Egress {
  return createEgress({ allow: () => config.egress.allow, clock: createSystemClock() });
}
