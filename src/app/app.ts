import type { Config } from "../config/config.ts";
import type { Operator } from "../domain/access/actor.ts";
import { type Actor, actorOf } from "../domain/access/actor.ts";
import type { Log } from "../domain/ports/runtime.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import { createMetricsServer } from "../http/metrics/server.ts";
import { createServers, type Servers } from "../http/server.ts";
import { monotonicMs } from "../runtime/clock.ts";
import { createFeeds, createWakeup } from "../runtime/signals.ts";
import { threadCpuMs } from "../runtime/thread-time.ts";
import { readDiskSpace, watchVitals } from "../runtime/vitals.ts";
import { keepHistory } from "../service/keep-history.ts";
import { createManageAccounts } from "../service/manage-account.ts";
import { startAlerting } from "./alerting.ts";
import { createBackground } from "./background.ts";
import { type BookReadings, createBookReadings } from "./book-readings.ts";
import { createCounting } from "./counting.ts";
import { assetsOf, databaseOf } from "./data-folder.ts";
import { watchDiskOf } from "./disk.ts";
import { countLive, readOrphans, recallEndings } from "./earlier-process.ts";
import { makeFirst } from "./first-key.ts";
import {
  createLifecycle,
  type Lifecycle,
  type Opened,
  type Releases,
  type StopOptions,
} from "./lifecycle.ts";
import { type InForce, settingsInForce } from "./live/in-force.ts";
import { createReload, type ReloadDeps } from "./live/reload.ts";
import { settingsSign, watchSettings } from "./live/watch.ts";
import { tryNoteSettings } from "./note-settings.ts";
import { paced } from "./paced.ts";
import { createReadiness } from "./readiness.ts";
import { type AppOverrides, openRooms, type Rooms } from "./rooms.ts";
import { createHandlers, type Handlers } from "./routes.ts";
import { noteServing } from "./serving.ts";
import { openShedding } from "./shedding.ts";
import { prepareTaping } from "./taping.ts";
import { openTracing } from "./tracing.ts";

/** How the service started. */
export type Started = ReturnType<typeof describeStart>;

/**
 * `start` opens everything and listens; it throws DataDirectoryBusy, SchemaError, or what the operating system says. `stop`
 * refuses new tasks, lets running work end within the drain limit, releases the rest, and closes everything.
 */
export type App = Lifecycle<Started>;

/** Settings are applied one after the other, before the answer to the caller. */
type Reload = ReturnType<typeof createReload>;

export function createApp(config: Config, overrides: AppOverrides = {}): App {
  const readSign = settingsSign(config);
  return createLifecycle(async (releases) => {
    const { inForce, openTaping } = await prepareTaping(config);
    // A replay has its own settings.
    const readSettings = config.replay === undefined ? overrides.readSettings : undefined;
    return await open(
      settingsInForce(inForce),
      { ...overrides, openTaping, readSettings, readSign },
      releases,
    );
  });
}

async function open(config: InForce, overrides: AppOverrides, releases: Releases): Promise<Opened<Started>> {
  const startedAt = monotonicMs();
  const rooms = await openRooms(config, overrides, releases);
  const { store, log, clock } = rooms;
  const wakeup = createWakeup(store.tasks);
  const feeds = followedFeeds(rooms);
  const told = rooms.cluster?.share(feeds) ?? feeds;
  const books = await openBookReadings(config, rooms);
  releases.push(() => books.stop());
  const manageBy = manageWith(rooms, books);
  const manageAs = (operator: Operator) => manageBy(actorOf(operator));
  const watched = watch(config, rooms, releases);
  const background = createBackground(config, rooms, told, watched);
  const [stopping, drained] = [new AbortController(), new AbortController()];
  const disk = openDisk(config, { ...rooms, books }, releases);
  const left = await readOrphans(rooms);
  const readiness = createReadiness(store, disk, { takesForOthers: config.role === "api" });
  const reload = openReload(config, overrides, { ...rooms, wake: background.scheduler.wake }, releases);
  let servers: Servers | undefined;
  const { handle, handleMetrics, resume } = createHandlers({
    ...{ ...rooms, ...told, config, wakeup, manageAs, audits: books, reload },
    ...{ callbacksDue: background.callbacksDue, hookCame: background.hookCame, backups: background.backups },
    ...{ ...readiness, disk, orphans: left.toldOrphans, ...watched, startedAt: clock.now() },
    stopping: stopping.signal,
    drained: drained.signal,
    keepOpen: (request) => servers?.keepOpen(request),
  });
  const resumedTasks = await countLive(rooms);
  servers = createServers({ host: config.host, port: config.port, longPort: config.longPort, handle });
  releases.push(servers.stop, noteServing(config.dataDir, config.publicUrl ?? servers.url));
  const metricsUrl = listenForMetrics(config, handleMetrics, releases);
  // Created when the ports are open, so that a start that fails earlier leaves the first key to the next start.
  const first = await makeFirst(manageBy({ kind: "system" }), config, overrides);

  wakeup.listen(background.scheduler);
  await recallEndings(rooms, watched.tally);
  await tryNoteSettings({ ...rooms, config, trail: store.trail });
  await rooms.cluster?.start(feeds, { ...background.woken, resume: paced(resume, monotonicMs), ...left });
  await beginWork(background, resume);
  releases.push(startAlerting(config, rooms, { ...watched, disk, backups: background.backups.state }));
  readiness.begin();
  // The first create should not have to compile its model's schema.
  releases.push(clock.after(0, () => void rooms.catalog.warm()));

  const started = describeStart(config, rooms, servers, {
    ...first,
    ...{ resumedTasks, metricsUrl, reload: reload?.reload },
    readyInMs: Math.round(monotonicMs() - startedAt),
  });
  logStart(log, config, started);

  const refuseMore = () => {
    readiness.end();
    stopping.abort();
    servers?.retire();
    rooms.cluster?.drain();
  };
  const endWork = (drainMs: number) => background.drain(drainMs, () => drained.abort());
  return { started, drain: createDrain(config, log, { refuseMore, endWork }) };
}

/** Reads the books of the file, or of the database that nodes share. */
async function openBookReadings(config: Config, { cluster, store, log }: Rooms): Promise<BookReadings> {
  // What is not sealed is read in full again.
  const keepSeals: SealStore["keep"] = (seals) =>
    store.seals
      .keep(seals)
      .catch((error: unknown) =>
        log.warn({ err: error as Error }, "an audit could not seal what it verified"),
      );
  return (await cluster?.books(keepSeals)) ?? createBookReadings({ path: databaseOf(config), keepSeals });
}

const manageWith = (rooms: Rooms, usage: BookReadings) => (actor: Actor) =>
  createManageAccounts({
    ...{ ...rooms, ...rooms.store, usage, charges: rooms.store.usage, actor },
    checks: rooms.moderation.names(),
  });

/** Starts the work that runs without a request. If a start fails, everything is stopped. */
async function beginWork(background: ReturnType<typeof createBackground>, resume: () => Promise<void>) {
  try {
    await background.start();
    await resume();
  } catch (error) {
    await background.drain(0, () => {});
    throw error;
  }
}

function openDisk(
  config: InForce,
  { books, ...rooms }: Pick<Rooms, "clock" | "log"> & { readonly books: BookReadings },
  releases: Releases,
) {
  const count = () => books.reclaimable({ dataDir: config.dataDir, assets: assetsOf(config) });
  return watchDiskOf(config, { ...rooms, count }, releases);
}

function createDrain(
  { scheduler }: Pick<Config, "scheduler">,
  log: Log,
  { refuseMore, endWork }: { refuseMore: () => void; endWork: (drainMs: number) => Promise<void> },
): Opened<Started>["drain"] {
  return async ({ force = false, listenOnMs = 0 }: StopOptions) => {
    refuseMore();
    log.info({ force }, "stopping");
    const listenedOn = force ? undefined : Bun.sleep(listenOnMs);
    await endWork(force ? 0 : scheduler.drainMs);
    await listenedOn;
    log.info({}, "stopped");
  };
}

/** Counts events, measures the process, and refuses requests under overload. */
function watch(config: Config, rooms: Rooms, releases: Releases) {
  const counting = createCounting(rooms);
  const { tally } = counting;
  const { observe, ...overload } = openShedding(config, rooms, tally);
  const lagged = (lateMs: number, computedMs: number) => {
    tally.lagged(lateMs);
    // Refusing requests reduces the load that they cause, not the load of other programs on the machine.
    observe(computedMs);
  };
  const vitals = watchVitals({ ...rooms, computedMs: threadCpuMs, lagged });
  releases.push(vitals.stop);
  const disk = () => readDiskSpace(config.dataDir, databaseOf(config));
  const { endMinute } = counting.history;
  releases.push(keepHistory({ ...rooms, ...rooms.store, vitals: vitals.read, disk, endMinute }));
  const spans = openTracing(config, rooms, tally, releases);
  return { ...counting, ...overload, vitals, spans };
}

/** @returns the address of metrics, if they have one of their own */
function listenForMetrics(
  { metrics: { address } }: Config,
  handle: Handlers["handleMetrics"],
  releases: Releases,
): string | undefined {
  if (address === undefined) return undefined;
  const server = createMetricsServer({ ...address, handle });
  releases.push(server.stop);
  return server.url;
}

function logStart(log: Log, { dataDir: data_dir }: Config, started: Started): void {
  const { urls, metricsUrl: metrics_url, resumedTasks: resumed_tasks, readyInMs: ms } = started;
  const { api: url, long: long_url } = urls;
  // Off a terminal, nothing else tells that the database was brought up to date.
  const migrations = started.migrations === 0 ? undefined : started.migrations;
  log.info({ url, long_url, metrics_url, data_dir, migrations, resumed_tasks, ms }, "ready");
}

/** Follows the settings file. */
function openReload(
  config: InForce,
  { readSettings: read, readSign = settingsSign(config) }: AppOverrides,
  rooms: Rooms & Pick<ReloadDeps, "wake">,
  releases: Releases,
): Reload | undefined {
  if (read === undefined) return undefined;
  const made = createReload({
    ...{ ...rooms, config, read, readSign, openChecks: rooms.moderation.open },
    sign: () => settingsSign(config),
    note: (next) => tryNoteSettings({ ...rooms, config: next, trail: rooms.store.trail }),
  });
  const onChange = () =>
    void made
      .reload()
      .catch((error: unknown) =>
        rooms.log.error({ err: error as Error }, "the settings could not be read anew"),
      );
  releases.push(watchSettings(config, made.lastRead, rooms.clock, onChange));
  return made;
}

function followedFeeds({ taping }: Pick<Rooms, "taping">) {
  const feeds = createFeeds();
  taping?.follow(feeds.feed);
  return feeds;
}

function describeStart(
  config: Config,
  rooms: Rooms,
  servers: Servers,
  facts: {
    /** The first key of a new data folder, shown only once. */
    readonly firstKey: string | undefined;
    /** Whether the first key of an earlier start, which still waits to be taken, can be used. */
    readonly isKeptKeyGood: boolean;
    /** Opens the console once. */
    readonly consoleSecret: string | undefined;
    /** Unfinished tasks of an earlier process. */
    readonly resumedTasks: number;
    readonly readyInMs: number;
    /** Reads the settings again; absent if they cannot change. */
    readonly reload: Reload["reload"] | undefined;
    /** Undefined without an address of their own. */
    readonly metricsUrl: string | undefined;
  },
) {
  return {
    ...facts,
    urls: { api: config.publicUrl ?? servers.url, long: servers.longUrl },
    /** Undefined when this port is off. */
    port: servers.port,
    longPort: servers.longPort,
    models: rooms.catalog.models().map(({ id }): { readonly id: string } => ({ id })),
    providers: [...rooms.providers.keys()],
    /** Number of migrations that this start applied to the database. */
    migrations: rooms.store.migrated.length,
    createdDataDir: rooms.createdDataDir,
    database: databaseOf(config),
    assets: assetsOf(config),
  };
}
