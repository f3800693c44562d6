import type { Config } from "../config/config.ts";
import type { AttemptId, LaneId } from "../domain/ids.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { Tally } from "../domain/ports/tally.ts";
import { LONGEST_DELAY_MS, longestCallbackDelayMs } from "../domain/task/backoff.ts";
import { monotonicMs } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import type { Feeds } from "../runtime/signals.ts";
import { type CallbackOptions, createCallbackSender } from "../scheduler/callbacks.ts";
import { createCleaner } from "../scheduler/cleaner.ts";
import { type CollectorDeps, createCollector } from "../scheduler/collector.ts";
import { createHeldFiles } from "../scheduler/held-files.ts";
import { Hooks } from "../scheduler/hooks.ts";
import { createIndexer } from "../scheduler/indexer.ts";
import { createLateAnswers } from "../scheduler/late-answers.ts";
import { createLeftovers } from "../scheduler/leftovers.ts";
import { createRetention, type RetentionDeps } from "../scheduler/retention.ts";
import { createLanes } from "../scheduler/routing/lanes.ts";
import { createRecounts } from "../scheduler/routing/recounts.ts";
import { createScheduler, type SchedulerOptions } from "../scheduler/scheduler.ts";
import { createTimekeeper } from "../scheduler/timekeeper.ts";
import { Traces } from "../scheduler/traces.ts";
import { collectContents } from "../service/collect-contents.ts";
import type { QueueShedding } from "../service/queue-shedding.ts";
import { removeContents } from "../service/remove-task.ts";
import { createBackups } from "./backups.ts";
import { mostConnections } from "./descriptors.ts";
import { paced } from "./paced.ts";
import { LEFT_AFTER_MS, type Rooms } from "./rooms.ts";

/** The receivers of events. */
interface Watching {
  readonly tally: Tally;
  readonly spans: Spans | undefined;
  readonly queues: Pick<QueueShedding, "interrupted">;
}

interface Waiters {
  readonly scheduler: { wake(): void };
  readonly sender: { wake(): void };
}

function wokenBy(
  role: Config["role"],
  { loads, clock, store: { tasks } }: Rooms,
  { scheduler, sender }: Waiters,
) {
  return {
    wake: scheduler.wake,
    callbacksDue: sender.wake,
    recount: paced(
      async () => loads.start(await tasks.laneCounts()),
      () => clock.elapsed(),
    ),
    async rescue() {
      if (role !== "api" && (await tasks.rescue(clock.now())) > 0) scheduler.wake();
    },
  };
}

/** The work that runs without a request. */
export function createBackground(
  config: Config,
  rooms: Rooms,
  feeds: Feeds,
  { tally, spans, queues }: Watching,
) {
  const { clock, log, store, providers, inputAddresses } = rooms;
  const [{ tasks }, { publicUrl }] = [store, config];
  const timekeeper = createTimekeeper(
    {
      ...{ clock, log, time: store.time },
      onStep: (byMs) => moveTimes(rooms, byMs),
      onBreak: queues.interrupted,
      wake() {
        scheduler.wake();
        sender.wake();
      },
    },
    longestDelays(config),
  );
  const sending = { ...rooms, ...store, tally, spans, random: systemRandom, publicUrl };
  const sender = createCallbackSender(sending, callbackOptions(config, rooms));
  const hooks = openHooks(config, rooms, () => scheduler.wake());
  const scheduler = createScheduler(
    {
      ...{ ...rooms, ...feeds, tally, spans, tasks, hooks, random: systemRandom },
      traces: new Traces(clock),
      ...{ isOverdue: timekeeper.isOverdue, within: rooms.taping?.within },
      provider: (lane: LaneId) => providers.get(lane),
      callbackDue: sender.wake,
      inputUrl: publicUrl === undefined ? undefined : (...of) => publicUrl + inputAddresses.pathOf(...of),
    },
    schedulerOptions(config, rooms, () => scheduler.wake()),
  );
  const upkeep = createUpkeep(config, rooms);
  return {
    scheduler,
    /** Tells the senders that callbacks are due. */
    callbacksDue() {
      sender.wake();
      rooms.cluster?.tellCallbacksDue();
    },
    /** Handles messages of other nodes. */
    woken: wokenBy(config.role, rooms, { scheduler, sender }),
    /** An upstream has called about an attempt. */
    hookCame: hooks.came.bind(hooks),
    backups: upkeep.backups,
    async start() {
      await timekeeper.start();
      await rooms.startWays();
      if (config.role === "api") return;
      await scheduler.start();
      await sender.start();
      upkeep.start();
    },
    drain: prepareDrain(rooms, { upkeep, timekeeper, scheduler, sender }),
  };
}

/** Lets running steps end, calls `onDrained`, then lets sends end, within `drainMs` in all. */
function prepareDrain(
  { clock, store }: Pick<Rooms, "clock" | "store">,
  parts: {
    readonly upkeep: { stop(): void };
    readonly timekeeper: { stop(): void };
    readonly scheduler: { drain(limitMs: number): Promise<void> };
    readonly sender: { stop(limitMs: number): Promise<void> };
  },
): (drainMs: number, onDrained: () => void) => Promise<void> {
  return async (drainMs, onDrained) => {
    parts.upkeep.stop();
    parts.timekeeper.stop();
    const until = monotonicMs() + drainMs;
    // Steps under way end with a write, and the write waits while the disk is full or the database is busy.
    const cancelGivingUp = clock.after(drainMs, () => store.giveUp());
    await parts.scheduler.drain(drainMs);
    onDrained();
    await parts.sender.stop(Math.max(0, until - monotonicMs()));
    cancelGivingUp();
  };
}

/** Providers get an address to call, unless there is none or the operator does not want it. */
function openHooks({ publicUrl, hooks }: Config, rooms: Rooms, wake: () => void): Hooks {
  const { clock, log, store, hookTokens } = rooms;
  const isTold = hooks && publicUrl !== undefined;
  const addressOf = isTold ? (id: AttemptId) => publicUrl + hookTokens.pathOf(id) : undefined;
  return new Hooks({ tasks: store.tasks, clock, log, wake, addressOf });
}

function longestDelays({ callbacks }: Config) {
  return {
    taskMs: LONGEST_DELAY_MS,
    get callbackMs() {
      return longestCallbackDelayMs(callbacks.delaysMs);
    },
  };
}

function keptMsOf({ retention }: Config): ReturnType<RetentionDeps["keptMs"]> {
  const { outputsMs, inputsMs, callbacksMs, tasksMs } = retention;
  return { outputs: outputsMs, inputs: inputsMs, callbacks: callbacksMs, tasks: tasksMs };
}

/** Removes files that ended nodes left in the folder of files. */
function removeLeft({ assets, log }: Pick<Rooms, "assets" | "log">): void {
  assets.removeTemporary(LEFT_AFTER_MS).catch((error: unknown) => {
    log.warn({ err: error as Error }, "half-written files of other nodes could not be removed");
  });
}

/** The regular maintenance. */
function createUpkeep(config: Config, { stopWays, ...rooms }: Rooms) {
  const { clock, log, store, contents } = rooms;
  const { tasks } = store;
  const { retention } = store;
  const collect: CollectorDeps["collect"] = ({ pause, ...options }) =>
    collectContents({ contents, retention, now: clock.now, pause }, options);
  const remove = async (sha256: string) =>
    (await retention.neededContents([sha256])).length === 0 && rooms.assets.removeUnheld(sha256);
  const tidy = () => {
    store.checkpoint();
    if (rooms.cluster !== undefined) removeLeft(rooms);
  };
  const backups = createBackups(config, rooms);
  const all = [
    createCleaner({ tasks, clock, log, tidy }),
    createRetention({
      ...{ clock, log, keptMs: () => keptMsOf(config), booksMs: () => config.retention.booksMs },
      ...{ retention, uploads: store.uploads },
      removeContents: (contents) => removeContents({ ...rooms, retention }, contents),
    }),
    createHeldFiles(rooms),
    createCollector({ clock, log, collect }),
    createLeftovers({ clock, log, left: rooms.left, remove }),
    createIndexer({ clock, log, search: store.search, isOn: config.search.prompts }),
    createLateAnswers({ ...rooms, tasks }),
    // Nodes count what others do, too, each time that they tell that they are there.
    ...(rooms.cluster === undefined ? [createRecounts({ ...rooms, tasks })] : []),
    rooms.relays,
    backups,
  ];
  return {
    backups,
    start() {
      for (const each of all) each.start();
    },
    stop() {
      for (const each of all) each.stop();
      stopWays();
    },
  };
}

/** The limits on concurrent work may change. */
function schedulerOptions({ scheduler }: Config, rooms: Rooms, wake: () => void): SchedulerOptions {
  return {
    ...{ leaseMs: scheduler.leaseMs, lanes: createLanes({ ...rooms, tasks: rooms.store.tasks }, wake) },
    beginsNew: rooms.cluster === undefined,
    get concurrency() {
      // The store counts the tasks of all nodes.
      return scheduler.concurrency * (rooms.cluster?.workers() ?? 1);
    },
    get steps() {
      return scheduler.steps;
    },
  };
}

/**
 * A callback under way has a connection, and these limits leave descriptors to requests. All limits except the number per host
 * may change.
 */
function callbackOptions({ callbacks }: Config, { cluster }: Pick<Rooms, "cluster">): CallbackOptions {
  const { perHost } = callbacks.limits;
  // Read once, because the sender uses it several times for each send.
  const most = mostConnections("callbacks");
  const limits = {
    perHost,
    get total() {
      return Math.min(callbacks.limits.total, most);
    },
    get perAccount() {
      return callbacks.limits.perAccount;
    },
  };
  return { limits, delaysMs: () => callbacks.delaysMs, isShared: cluster !== undefined };
}

/** Moves the times of the providers' own jobs. If that fails, the times of the store are moved all the same. */
function moveTimes({ providers, log }: Pick<Rooms, "providers" | "log">, byMs: number): void {
  for (const provider of providers.values()) {
    try {
      provider.moveTimes?.(byMs);
    } catch (error) {
      const fields = { provider: provider.lane, err: error as Error };
      log.warn(fields, "the times of this provider's jobs could not be moved");
    }
  }
}
