import type { AccountId, TaskId } from "../../src/domain/ids.ts";
import type { AssetStore } from "../../src/domain/ports/asset-store.ts";
import type { Catalog } from "../../src/domain/ports/catalog.ts";
import type { ProviderAdapter } from "../../src/domain/ports/provider.ts";
import type { RouteStore } from "../../src/domain/ports/route-store.ts";
import type { Ids, Log } from "../../src/domain/ports/runtime.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import type { NewTask, Task } from "../../src/domain/task/task.ts";
import { createPreviewFeed } from "../../src/runtime/signals.ts";
import { Hooks } from "../../src/scheduler/hooks.ts";
import { laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { createTimekeeper } from "../../src/scheduler/timekeeper.ts";
import { Traces } from "../../src/scheduler/traces.ts";
import { openStore } from "../../src/store/open.ts";
import { bySystem, micros } from "../helpers/store.ts";
import type { Dice } from "./dice.ts";
import type { Owner, World } from "./time-world.ts";

export const ACCOUNT = "acc_00000000000000000000000001" as AccountId;
const LEASE_MS = 30_000;
const AT_ONCE = 1_000;

/** What outlives a process of the simulated service. */
export interface Machine {
  readonly world: World;
  readonly database: string;
  readonly assets: AssetStore;
  readonly ids: Ids;
  readonly dice: Dice;
  readonly isFull: () => boolean;
  readonly onEnd: (id: TaskId) => void;
  readonly onLog: (message: string) => void;
}

/** What a process has to do with. */
export interface Surroundings {
  readonly catalog: Catalog;
  /** Its ways to upstreams, which die with it. */
  readonly adapters: (owner: Owner) => readonly ProviderAdapter[];
  readonly deadlineMs: number;
  /** Tasks under way at once; a thousand for each account unless given. */
  readonly concurrency?: number;
  /** Stands between the service and what is known of its routes. */
  readonly watchRoutes?: (routes: RouteStore) => RouteStore;
}

export type SimulatedService = ReturnType<typeof openService>;

/** A process of the service on a simulated machine: its scheduler, routing, timekeeper and store are the real ones. */
export function openService(machine: Machine, around: Surroundings) {
  const { world, ids, dice } = machine;
  const owner: Owner = { isAlive: true };
  const clock = world.clockOf(owner);
  const store = openStore({ path: machine.database, ids });
  const through = throughDisk(machine, owner);
  const [tasks, time, routes] = [through(store.tasks), through(store.time), through(store.routes)];
  const adapters = around.adapters(owner);
  const capacities = laneCapacities(adapters);
  const say = (_: unknown, message: string) => machine.onLog(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const timekeeper = createTimekeeper(
    { time, clock, log, onStep() {}, onBreak() {}, wake: () => scheduler.wake() },
    { taskMs: around.deadlineMs, callbackMs: around.deadlineMs },
  );
  const ways = createWays({
    ...{ clock, log, random: dice.next, adapters: () => adapters },
    routes: around.watchRoutes?.(routes) ?? routes,
  });
  const scheduler = createScheduler(
    {
      ...{ tasks, clock, ids, log, assets: through(machine.assets), random: dice.next },
      ...{ catalog: around.catalog, ...ways },
      egress: {
        refusal: () => undefined,
        fetchMedia: () => Promise.reject(new Error("Nothing is fetched here.")),
        deliver: async () => ({ kind: "delivered", status: 200 }),
        ask: () => Promise.reject(new Error("nothing is asked")),
      },
      provider: (lane) => adapters.find((adapter) => adapter.lane === lane),
      feed: {
        publish: ({ id }, isOver) => void (isOver && machine.onEnd(id)),
        subscribe: () => () => {},
        subscribeAccount: () => () => {},
        subscribeAll: () => () => {},
      },
      previews: createPreviewFeed(),
      traces: new Traces(clock),
      hooks: new Hooks({ tasks, clock, log, wake: () => scheduler.wake() }),
      isOverdue: timekeeper.isOverdue,
      tally: { ended() {}, cancelled() {}, stageEnded() {}, attemptEnded() {} },
      callbackDue() {},
    },
    {
      ...{ concurrency: around.concurrency ?? AT_ONCE * adapters.length, steps: AT_ONCE, leaseMs: LEASE_MS },
      ...{ lanes: () => capacities, beginsNew: true },
    },
  );

  /** Nothing that the process waits for comes, and nothing that it begins is done. */
  async function die(): Promise<void> {
    owner.isAlive = false;
    ways.stopWays();
    await store.stop();
  }

  return {
    ...{ clock, ways },
    async start(): Promise<void> {
      await timekeeper.start();
      await ways.startWays();
      await scheduler.start();
    },
    /** @returns undefined when it is not accepted */
    async admit(task: NewTask): Promise<TaskId | undefined> {
      const outcome = await scheduler.admit({ task, assets: [] }).catch(() => undefined);
      return outcome?.kind === "admitted" ? task.id : undefined;
    },
    read: async (id: TaskId): Promise<Task | undefined> => store.tasks.byId(id),
    attempts: (id: TaskId) => store.tasks.attempts(id),
    /** As SIGKILL. */
    kill: die,
    /** As SIGTERM. */
    async stop(): Promise<void> {
      timekeeper.stop();
      await scheduler.drain(0);
      await die();
    },
    openAccount: () =>
      store.accounts.createAccount(
        {
          ...{ id: ACCOUNT, name: "default", mode: "unlimited", credit: micros(0), createdAt: clock.now() },
        },
        bySystem(),
      ),
  };
}

/** Reads, which work on a full disk. */
const READS = new Set([
  ...[
    "byId",
    "assetById",
    "attempts",
    "hasLiveTasks",
    "laneCounts",
    "lastBeat",
    "open",
    "counts",
    "troubles",
    "changedTroubles",
  ],
]);

/** Returns a function that puts a full disk, and the end of the process, between a port and those who call it. */
function throughDisk({ world, isFull }: Machine, owner: Owner) {
  return <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        // A port holds functions alone.
        const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
        return (...given: unknown[]) => {
          if (!owner.isAlive) return new Promise(() => {});
          if (isFull() && !READS.has(String(name)))
            return Promise.reject(new StorageError("full", "The disk is full."));
          return world.doing(() => method(...given));
        };
      },
    });
}
