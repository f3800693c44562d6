import { openAssetStore } from "../assets/open.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { ModelId, ProviderId } from "../domain/ids.ts";
import { MAX_WAITING_UPLOADS, UPLOAD_BYTES_AT_ONCE } from "../domain/limits.ts";
import type { PriceRule } from "../domain/model/model.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Ids, Log, Secrets, Wakeup } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { accountEndpoints } from "../http/account/routes.ts";
import { adminEndpoints } from "../http/admin/routes.ts";
import { assetEndpoints } from "../http/assets/routes.ts";
import { callbackEndpoints } from "../http/callbacks/routes.ts";
import { toEstimateBody } from "../http/compat/estimate-body.ts";
import { compatModelEndpoints } from "../http/compat/model-routes.ts";
import { compatImageEndpoints } from "../http/compat/routes.ts";
import { withDocs } from "../http/docs/routes.ts";
import { createEdge } from "../http/edge.ts";
import { eventEndpoints } from "../http/events/routes.ts";
import { generationEndpoints } from "../http/generations/routes.ts";
import { healthEndpoints } from "../http/health/routes.ts";
import { modelEndpoints } from "../http/models/routes.ts";
import { createUploadGate } from "../http/multipart/upload-gate.ts";
import { pricingEndpoints } from "../http/pricing/routes.ts";
import { createRouter } from "../http/router.ts";
import { createServers, type Servers } from "../http/server.ts";
import { taskEndpoints } from "../http/tasks/routes.ts";
import { createProviders } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock, monotonicMs } from "../runtime/clock.ts";
import { lockDirectory } from "../runtime/directory-lock.ts";
import { createIds } from "../runtime/ids.ts";
import { systemRandom } from "../runtime/random.ts";
import { createRateLimiter } from "../runtime/rate-limiter.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { createFeeds, createWakeup, type Feeds } from "../runtime/signals.ts";
import { createCallbackSender } from "../scheduler/callbacks.ts";
import { createCleaner } from "../scheduler/cleaner.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { createAuthenticate, createAuthenticateOperator } from "../service/authenticate.ts";
import { createCreateTask } from "../service/create-task.ts";
import { createEstimate } from "../service/estimate.ts";
import { createGenerateSync } from "../service/generate-sync.ts";
import { createTellLowBalance } from "../service/low-balance.ts";
import { createManageAccounts, type ManageAccounts } from "../service/manage-account.ts";
import { createOrphans, type Orphans } from "../service/orphans.ts";
import { openStore, type Store } from "../store/open.ts";
import { assetsOf, configuredPricesOf, databaseOf, ensureDirectory } from "./local.ts";

/** What a running service says of itself at its start. */
export interface Started {
  readonly urls: { readonly api: string; readonly long?: string | undefined };
  /** Of the default address; absent when it is switched off. */
  readonly port?: number | undefined;
  readonly longPort?: number | undefined;
  /** The first key of a new data folder, shown this once. */
  readonly firstKey?: string | undefined;
  readonly models: readonly { readonly id: string }[];
  readonly providers: readonly string[];
  /** Migrations the database has. */
  readonly migrations: number;
  readonly createdDataDir: boolean;
  /** Live tasks an earlier process left behind. */
  readonly resumedTasks: number;
  readonly database: string;
  readonly assets: string;
  readonly readyInMs: number;
}

export interface App {
  /** Opens everything and listens. @throws DataDirectoryBusy, SchemaError, or what the operating system says */
  start(): Promise<Started>;
  /**
   * Refuses new tasks, lets what is under way end within the drain limit, hands the rest back, and closes everything in the
   * reverse order of its opening. `force` skips the waiting. Calling it again is harmless.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
}

/** What tests put in the place of the world, and what the caller of the program decides. */
export interface AppOverrides {
  readonly log?: Log;
  readonly clock?: Clock;
  readonly egress?: Egress;
  readonly providers?: readonly ProviderAdapter[];
  /** Receives the first key of a new data folder before anybody can be told that the service is ready. */
  readonly onFirstKey?: (key: string) => void;
  /** The store is damaged: the process must end, and start again from what is on disk. */
  readonly onFatal?: (error: unknown) => void;
}

/** Another process serves from this data folder. */
export class DataDirectoryBusy extends Error {
  override readonly name = "DataDirectoryBusy";
}

export function createApp(config: Config, overrides: AppOverrides = {}): App {
  /** What is open, in the order of its opening; stopping goes backwards. */
  const releases: Releases = [];
  let starting: Promise<unknown> = Promise.resolve();
  let release: Promise<void> | undefined;
  let shutDown: ((force: boolean) => Promise<void>) | undefined;

  const closeAll = async () => {
    for (const close of releases.splice(0).reverse()) await close();
  };

  return {
    start() {
      const opening = (async () => {
        try {
          const { started, drain } = await open(config, overrides, releases);
          shutDown = drain;
          return started;
        } catch (error) {
          await closeAll();
          throw error;
        }
      })();
      starting = opening.catch(() => undefined);
      return opening;
    },
    stop(options = {}) {
      release ??= (async () => {
        // What is half open can be neither drained nor closed in order.
        await starting;
        await shutDown?.(options.force === true);
        await closeAll();
      })();
      return release;
    },
  };
}

type Releases = (() => Promise<void> | void)[];

/** Everything the service works with, opened. */
interface Rooms {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly addresses: Addresses;
  readonly store: Store;
  readonly assets: AssetStore;
  readonly providers: ReadonlyMap<ProviderId, ProviderAdapter>;
  readonly catalog: ReturnType<typeof createCatalog>;
  readonly configuredPrices: ReadonlyMap<ModelId, PriceRule>;
  readonly egress: Egress;
  readonly createdDataDir: boolean;
}

async function openRooms(config: Config, overrides: AppOverrides, releases: Releases): Promise<Rooms> {
  const clock = overrides.clock ?? createSystemClock();
  const log = overrides.log ?? (await openServerLog(config, releases));
  const ids = createIds(clock);

  const createdDataDir = ensureDirectory(config.dataDir);
  const lock = lockDirectory(config.dataDir);
  if (lock === undefined) {
    throw new DataDirectoryBusy(
      `Another svc serves from ${config.dataDir}. Stop it, or choose another --data-dir.`,
    );
  }
  releases.push(() => lock.release());

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

  const adapters = overrides.providers ?? createProviders({ config, clock });
  const providers = new Map(adapters.map((provider) => [provider.id, provider]));
  releases.push(async () => {
    for (const provider of adapters) await provider.stop?.();
  });
  const catalog = createCatalog({ isEnabled: (id) => providers.has(id) });
  const { prices: configuredPrices, warnings } = configuredPricesOf(config, catalog);
  for (const warning of warnings) log.warn({}, warning);
  const egress = overrides.egress ?? createEgress({ allow: config.egress.allow });
  return {
    clock,
    log,
    ids,
    secrets: createSecrets(),
    addresses: createAddresses(),
    store,
    assets,
    providers,
    catalog,
    configuredPrices,
    egress,
    createdDataDir,
  };
}

function createBackground(config: Config, rooms: Rooms, feeds: Feeds) {
  const { clock, log, store, providers } = rooms;
  const { tasks } = store;
  const { publicUrl } = config;
  const random = systemRandom;
  const sender = createCallbackSender({ ...rooms, ...store, random, publicUrl }, config.callbacks);
  const scheduler = createScheduler(
    { ...rooms, ...feeds, tasks, random, provider: (id) => providers.get(id), callbackDue: sender.wake },
    {
      ...config.scheduler,
      lanes: [...providers.values()].map(({ id, concurrency }) => ({ lane: id, capacity: concurrency })),
    },
  );
  const cleaner = createCleaner({ tasks, clock, log, tidy: () => void store.checkpoint() });
  return { sender, scheduler, cleaner };
}

/** What requests and the life of the process have to do with each other. */
interface Lifecycle {
  accepting: boolean;
  /** Aborts when the service stops, for those who could wait on for nothing. */
  readonly stopping: AbortController;
  /** Aborts once what could still be finished is finished. */
  readonly drained: AbortController;
  readonly orphans: Orphans;
  servers?: Servers;
}

function createHandler(
  config: Config,
  rooms: Rooms,
  signals: Feeds & { readonly wakeup: Wakeup; readonly callbacksDue: () => void },
  life: Lifecycle,
  manage: ManageAccounts,
) {
  const { providers, store, clock, log } = rooms;
  const { publicUrl } = config;
  const { tasks, prices, callbacks } = store;
  const shared = { ...rooms, ...signals, publicUrl, tasks, prices, callbacks, aliases: config.aliases };
  const createTask = createCreateTask({
    ...shared,
    hasProvider: (id) => providers.has(id),
    isAccepting: () => life.accepting,
    tellLowBalance: createTellLowBalance({ accounts: store.accounts, log }),
  });
  const metering = { ...shared, accounts: store.accounts, usage: store.usage };
  const estimateCost = createEstimate({ ...metering, toModelBody: toEstimateBody });
  const generateSync = createGenerateSync({ ...shared, createTask, orphans: life.orphans });
  const gate = createUploadGate({ bytesAtOnce: UPLOAD_BYTES_AT_ONCE, maxWaiting: MAX_WAITING_UPLOADS });
  const keepOpen = (request: Request) => life.servers?.keepOpen(request);
  const rateLimiter = createRateLimiter({ clock });
  const authentication = { ...rooms, accounts: store.accounts };
  const elapsed = monotonicMs;
  const edge = createEdge({ clock, elapsed, log, timeoutMs: config.edgeTimeoutMs, keepOpen });
  const router = {
    ...rooms,
    authenticate: createAuthenticate(authentication),
    authenticateOperator: createAuthenticateOperator(authentication),
    rateLimiter,
    elapsed,
    edge,
    publicUrl,
    trustedProxies: config.trustedProxies,
  };
  const routes = [
    ...generationEndpoints({ createTask, gate }),
    ...taskEndpoints({
      ...shared,
      elapsed,
      stopping: life.stopping.signal,
      keepOpen,
    }),
    // Before callbacks by their ids.
    ...eventEndpoints({ ...metering, stopping: life.stopping.signal }),
    ...callbackEndpoints({ ...shared, maxAttempts: config.callbacks.delaysMs.length + 1 }),
    ...compatImageEndpoints({
      ...shared,
      generateSync,
      gate,
      elapsed: monotonicMs,
      sync: config.sync,
      stopping: life.drained.signal,
      keepOpen,
    }),
    ...compatModelEndpoints(shared),
    ...modelEndpoints(shared),
    ...accountEndpoints({ ...metering, rateLimiter, isAccepting: () => life.accepting }),
    ...pricingEndpoints({ estimateCost }),
    ...assetEndpoints(shared),
    ...adminEndpoints({ manage, clock }),
    ...healthEndpoints({ isReady: () => life.accepting }),
  ];
  return createRouter(router, withDocs(routes, rooms));
}

async function open(config: Config, overrides: AppOverrides, releases: Releases) {
  const startedAt = monotonicMs();
  const rooms = await openRooms(config, overrides, releases);
  const { store, log, clock } = rooms;
  const wakeup = createWakeup();
  const feeds = createFeeds();
  const manage = createManageAccounts({ ...rooms, accounts: store.accounts, usage: store.usage });

  const { sender, scheduler, cleaner } = createBackground(config, rooms, feeds);
  const life: Lifecycle = {
    accepting: false,
    stopping: new AbortController(),
    drained: new AbortController(),
    orphans: createOrphans(),
  };
  // Nobody waits any more for what an earlier process left: an equal request takes it over.
  for (const { syncScope, id } of await store.tasks.orphans()) life.orphans.add(syncScope, id, clock.now());
  const handle = createHandler(config, rooms, { ...feeds, wakeup, callbacksDue: sender.wake }, life, manage);
  const { queued, underWay } = await store.tasks.counts();
  const servers = createServers({ host: config.host, port: config.port, longPort: config.longPort, handle });
  life.servers = servers;
  releases.push(() => servers.stop());
  // After the address is had: a start that fails leaves the first key to the next one.
  const firstKey = await manage.ensureFirstKey();
  if (firstKey !== undefined) overrides.onFirstKey?.(firstKey.key);

  wakeup.listen(scheduler);
  await scheduler.start();
  await sender.start();
  cleaner.start();
  life.accepting = true;
  // The first create should not pay for compiling its model's schema.
  releases.push(clock.after(0, () => void rooms.catalog.warm()));

  const started: Started = {
    urls: { api: config.publicUrl ?? servers.url, long: servers.longUrl },
    port: servers.port,
    longPort: servers.longPort,
    firstKey: firstKey?.key,
    models: rooms.catalog.models().map(({ id }) => ({ id })),
    providers: [...rooms.providers.keys()],
    migrations: store.schema.applied.length,
    createdDataDir: rooms.createdDataDir,
    resumedTasks: queued + underWay,
    database: databaseOf(config),
    assets: assetsOf(config),
    readyInMs: Math.round(monotonicMs() - startedAt),
  };
  const { urls, resumedTasks, readyInMs } = started;
  log.info(
    {
      url: urls.api,
      long_url: urls.long,
      data_dir: config.dataDir,
      resumed_tasks: resumedTasks,
      ms: readyInMs,
    },
    "ready",
  );

  const drain = async (force: boolean) => {
    life.accepting = false;
    life.stopping.abort();
    cleaner.stop();
    log.info({ force }, "stopping");
    const until = force ? 0 : monotonicMs() + config.scheduler.drainMs;
    await scheduler.drain(force ? 0 : config.scheduler.drainMs);
    life.drained.abort();
    await sender.stop(Math.max(0, until - monotonicMs()));
    log.info({}, "stopped");
  };
  return { started, drain };
}

async function openServerLog(config: Config, releases: Releases): Promise<Log> {
  const { openLog } = await import("../runtime/log.ts");
  const { level, format } = config.log;
  const log = await openLog({
    level,
    format: format === "auto" ? (process.stderr.isTTY ? "pretty" : "json") : format,
  });
  releases.push(() => log.flush());
  return log;
}
