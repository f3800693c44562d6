import type { AccountId, ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import type { AssetStore } from "../../src/domain/ports/asset-store.ts";
import type { Catalog } from "../../src/domain/ports/catalog.ts";
import type { Ids, Log } from "../../src/domain/ports/runtime.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import type { Task } from "../../src/domain/task/task.ts";
import { createPreviewFeed } from "../../src/runtime/signals.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { createTimekeeper } from "../../src/scheduler/timekeeper.ts";
import { Traces } from "../../src/scheduler/traces.ts";
import { openStore } from "../../src/store/open.ts";
import { MODEL } from "../helpers/engine.ts";
import { micros, newTask } from "../helpers/store.ts";
import type { Dice } from "./dice.ts";
import type { Upstream } from "./time-upstream.ts";
import type { Owner, World } from "./time-world.ts";

export const DEADLINE_MS = 600_000;
const LEASE_MS = 30_000;
const ACCOUNT = "acc_00000000000000000000000001" as AccountId;
/** Ways to the upstream, by whether its key is honoured there. */
const WAYS = [
  ["asked", false],
  ["keyed", true],
] as const;
type Way = (typeof WAYS)[number][0];

const models: readonly Model[] = WAYS.map(([way]) => ({
  ...MODEL,
  id: way as string as ModelId,
  deadlineMs: DEADLINE_MS,
  routes: [{ provider: way as string as ProviderId, upstreamModel: "one" }],
}));
const catalog: Catalog = {
  models: () => models,
  all: () => models,
  find: (id) => models.find((model) => model.id === id),
  routes: ({ routes }) => routes,
  validate: (_, body) => ({ ok: true, body }),
};

/** What outlives a process. */
export interface Machine {
  readonly world: World;
  readonly upstream: Upstream;
  readonly database: string;
  readonly assets: AssetStore;
  readonly ids: Ids;
  readonly dice: Dice;
  readonly isFull: () => boolean;
  readonly onEnd: (id: TaskId) => void;
  readonly onLog: (message: string) => void;
}

/** A process of the service: its scheduler, timekeeper and store are the real ones. */
export type Service = Awaited<ReturnType<typeof startService>>;

export async function startService(machine: Machine) {
  const { world, upstream, ids, dice } = machine;
  const owner: Owner = { isAlive: true };
  const clock = world.clockOf(owner);
  const store = openStore({ path: machine.database, ids });
  const through = throughDisk(machine, owner);
  const [tasks, time] = [through(store.tasks), through(store.time)];
  const adapters = WAYS.map(([way, isKeyed]) =>
    upstream.adapterOf(owner, way as string as ProviderId, isKeyed),
  );
  const say = (_: unknown, message: string) => machine.onLog(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const timekeeper = createTimekeeper(
    { time, clock, log, onStep() {}, wake: () => scheduler.wake() },
    { taskMs: DEADLINE_MS, callbackMs: DEADLINE_MS },
  );
  const scheduler = createScheduler(
    {
      ...{ tasks, clock, ids, log, catalog, assets: through(machine.assets), random: dice.next },
      egress: {
        refusal: () => undefined,
        fetchMedia: () => Promise.reject(new Error("Nothing is fetched here.")),
        deliver: async () => ({ kind: "delivered", status: 200 }),
      },
      provider: (lane) => adapters.find((adapter) => adapter.lane === lane),
      ...createWays({
        adapters: () => adapters,
        routes: through(store.routes),
        clock,
        log,
        random: dice.next,
      }),
      feed: {
        publish: ({ id }, isOver) => void (isOver && machine.onEnd(id)),
        subscribe: () => () => {},
        subscribeAccount: () => () => {},
        subscribeAll: () => () => {},
      },
      previews: createPreviewFeed(),
      traces: new Traces(clock),
      isOverdue: timekeeper.isOverdue,
      tally: { ended() {} },
      callbackDue() {},
    },
    {
      ...{ concurrency: 1_000, steps: 1_000, leaseMs: LEASE_MS },
      lanes: () => adapters.map(({ lane }) => ({ lane, capacity: 1_000 })),
    },
  );

  return {
    async start(): Promise<void> {
      await timekeeper.start();
      await scheduler.start();
    },
    /** @returns undefined when it is not accepted */
    async create(): Promise<TaskId | undefined> {
      const way: Way = dice.pick(["asked", "keyed"]);
      const task = newTask({
        id: ids.create("task"),
        accountId: ACCOUNT,
        model: way as string as ModelId,
        lane: way as string as ProviderId,
        createdAt: clock.now(),
      });
      const outcome = await tasks.admit({ task, assets: [] }).catch(() => undefined);
      if (outcome?.kind !== "admitted") return undefined;
      scheduler.queued();
      return task.id;
    },
    read: async (id: TaskId): Promise<Task | undefined> => store.tasks.byId(id),
    /** As SIGKILL: nothing that it waits for comes, and nothing that it begins is done. */
    async kill(): Promise<void> {
      owner.isAlive = false;
      await store.stop();
    },
    /** As SIGTERM. */
    async stop(): Promise<void> {
      timekeeper.stop();
      await scheduler.drain(0);
      owner.isAlive = false;
      await store.stop();
    },
    openAccount: () =>
      store.accounts.createAccount({
        ...{ id: ACCOUNT, name: "default", mode: "unlimited", credit: micros(0), createdAt: clock.now() },
      }),
  };
}

/** Reads, which work on a full disk. */
const READS = new Set(["byId", "assetById", "attempts", "hasLiveTasks", "lastBeat", "open", "counts"]);

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
