import { createHash } from "node:crypto";
import type { IdByPrefix, IdPrefix, LeaseToken, ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import type { StoredFile } from "../../src/domain/media/asset.ts";
import { canTake } from "../../src/domain/model/eligibility.ts";
import type { Model, Route } from "../../src/domain/model/model.ts";
import type { EndedTask } from "../../src/domain/overview.ts";
import { type AssetStore, MediaError } from "../../src/domain/ports/asset-store.ts";
import type { Catalog } from "../../src/domain/ports/catalog.ts";
import { type Egress, EgressError } from "../../src/domain/ports/egress.ts";
import type { PollResult, ProviderAdapter, SubmitRequest } from "../../src/domain/ports/provider.ts";
import type { Routing } from "../../src/domain/ports/routing.ts";
import type { Ids, Log, SteadyClock } from "../../src/domain/ports/runtime.ts";
import type { EndedAttempt, EndedStage } from "../../src/domain/ports/tally.ts";
import type { Task } from "../../src/domain/task/task.ts";
import { createPreviewFeed, createTaskFeed } from "../../src/runtime/signals.ts";
import { Hooks } from "../../src/scheduler/hooks.ts";
import { laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { createScheduler, type SchedulerOptions } from "../../src/scheduler/scheduler.ts";
import { Traces } from "../../src/scheduler/traces.ts";
import { openEmptyStore } from "./open-store.ts";
import { ACCOUNT, bySystem, LANE, micros, NOW, newTask } from "./store.ts";

/** A clock that stands still until it is set; timers fire when it passes them. */
export function fakeClock(start = NOW): SteadyClock & { set(now: number): void; advance(ms: number): void } {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  const set = (to: number) => {
    now = to;
    const due = timers.filter((timer) => timer.at <= now);
    timers = timers.filter((timer) => timer.at > now);
    for (const timer of due) timer.callback();
  };
  return {
    now: () => now,
    elapsed: () => now - start,
    behindMs: () => 0,
    jump() {},
    after(delayMs, callback) {
      if (delayMs <= 0) {
        const soon = setImmediate(callback);
        return () => clearImmediate(soon);
      }
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    set,
    advance: (ms) => set(now + ms),
  };
}

/** Ids that count up and sort. */
export function countingIds(): Ids {
  let count = 0;
  const next = () => String(++count).padStart(26, "0");
  return {
    create: <P extends IdPrefix>(prefix: P) => `${prefix}_${next()}` as string as IdByPrefix[P],
    leaseToken: () => `lease-${next()}` as LeaseToken,
  };
}

/** Keeps bytes in memory; every file is a 1×1 PNG unless it says `broken`. */
export function memoryAssets(): AssetStore {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const stage: AssetStore["stage"] = async (source) => {
    const chunks: Uint8Array[] = [];
    if (source instanceof Uint8Array) chunks.push(source);
    else for await (const chunk of source) chunks.push(chunk);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    if (Buffer.from(bytes).toString() === "broken") throw new MediaError("damaged", "is damaged");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const file: StoredFile = { sha256, sizeBytes: bytes.length, type: "image/png", width: 1, height: 1 };
    return { file, keep: async () => void files.set(sha256, bytes), release: async () => {} };
  };
  const open: AssetStore["open"] = async ({ sha256 }) => {
    const bytes = files.get(sha256);
    return bytes && new Blob([bytes]);
  };
  return {
    stage,
    async receive() {
      const chunks: Uint8Array[] = [];
      return {
        append: async (bytes) => void chunks.push(bytes),
        sha256: () => createHash("sha256").update(Buffer.concat(chunks)).digest("hex"),
        async *read() {
          yield* chunks;
        },
        stage: (options) => stage(Buffer.concat(chunks), options),
        discard: async () => {},
      };
    },
    async put(source, options) {
      const { file, keep } = await stage(source, options);
      await keep();
      return file;
    },
    hold: async (file) =>
      files.has(file.sha256) ? { file, keep: async () => {}, release: async () => {} } : undefined,
    removeUnheld: async (sha256) => files.delete(sha256),
    renewHeld() {},
    open,
    locate: async () => undefined,
    async deliver(file) {
      const content = await open(file);
      return content && { kind: "content", content };
    },
    paintMask: async (mask) => mask,
    readPaintedMask: (picture) => picture.bytes(),
    maskOfOpaque: async () => undefined,
    removeTemporary: async () => 0,
  };
}

/** An upstream that does what the test's script says, and remembers what was asked of it. */
export interface ScriptedProvider extends ProviderAdapter {
  readonly submissions: SubmitRequest[];
  readonly cancelled: unknown[];
}

export function scriptedProvider(script: Partial<ProviderAdapter> = {}): ScriptedProvider {
  const submissions: SubmitRequest[] = [];
  const cancelled: unknown[] = [];
  const { submit, ...rest } = script;
  return {
    id: LANE,
    lane: rest.id ?? LANE,
    submitIsIdempotent: false,
    concurrency: 100,
    poll: async (): Promise<PollResult> => ({
      kind: "succeeded",
      outputs: [{ kind: "remote", ref: "file" }],
    }),
    cancel: async (operation) => {
      cancelled.push(operation);
    },
    fetchOutput: async function fetchOutput() {
      return (async function* () {
        yield new TextEncoder().encode("picture");
      })();
    },
    ...rest,
    submissions,
    cancelled,
    async submit(request, signal) {
      submissions.push(request);
      return submit ? submit(request, signal) : { kind: "operation", operation: { job: submissions.length } };
    },
  };
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const MODEL: Model = {
  id: "sandbox-image" as ModelId,
  kind: "image",
  name: "Test",
  description: "",
  modes: [{ id: "text-to-image", requires: [] }],
  schema: {},
  mediaFields: [],
  price: { version: "1", lines: [] },
  deadlineMs: 60_000,
  routes: [
    { provider: LANE, upstreamModel: "one" },
    { provider: "second" as ProviderId, upstreamModel: "two" },
  ],
};

const catalogOf = (models: readonly Model[]): Catalog => ({
  models: () => models,
  all: () => models,
  find: (id) => models.find((model) => model.id === id),
  routes: ({ routes }) => routes,
  validate: (_model, body) => ({ ok: true, body }),
});

/** The scheduler on a store in memory, with scripted upstreams and a clock that the test moves. */
export async function createEngine(
  providers: readonly ProviderAdapter[],
  given: {
    egress?: Partial<Egress>;
    options?: Partial<SchedulerOptions>;
    /** `MODEL` unless given. */
    models?: readonly Model[];
  } = {},
) {
  const clock = fakeClock();
  const ids = countingIds();
  const store = openEmptyStore(ids);
  await store.accounts.createAccount(
    {
      id: ACCOUNT,
      name: "default",
      mode: "unlimited",
      credit: micros(0),
      createdAt: NOW,
    },
    bySystem(),
  );
  let callbacksDue = 0;
  const ended: EndedTask[] = [];
  const cancelled: ModelId[] = [];
  const stages: EndedStage[] = [];
  const attempts: EndedAttempt[] = [];
  const random = () => 0.5;
  const ways = createWays({ adapters: () => providers, routes: store.routes, clock, log: silent, random });
  const deps: Parameters<typeof createScheduler>[0] = {
    tasks: store.tasks,
    assets: memoryAssets(),
    egress: {
      refusal: () => undefined,
      fetchMedia: async () => {
        throw new EgressError("unreachable", "cannot be reached");
      },
      deliver: async () => ({ kind: "delivered", status: 200 }),
      ask: () => Promise.reject(new Error("nothing is asked")),
      ...given.egress,
    },
    catalog: catalogOf(given.models ?? [MODEL]),
    provider: (lane) => providers.find((provider) => provider.lane === lane),
    ...ways,
    traces: new Traces(clock),
    hooks: new Hooks({
      ...{ tasks: store.tasks, clock, log: silent, wake() {} },
      addressOf: (id) => `https://svc.example.com/hooks/${id}`,
    }),
    clock,
    ids,
    random,
    log: silent,
    feed: createTaskFeed(),
    previews: createPreviewFeed(),
    isOverdue: async (id) => clock.now() >= ((await store.time.deadlineOf(id)) ?? Number.POSITIVE_INFINITY),
    tally: {
      ended: (task) => void ended.push(task),
      cancelled: (model) => void cancelled.push(model),
      stageEnded: (stage) => void stages.push(stage),
      attemptEnded: (attempt) => void attempts.push(attempt),
    },
    callbackDue: () => {
      callbacksDue += 1;
    },
  };
  const scheduler = createScheduler(deps, {
    concurrency: 100,
    steps: 100,
    leaseMs: 30_000,
    lanes: () => laneCapacities(providers),
    ...given.options,
  });
  return {
    clock,
    store,
    deps,
    scheduler,
    callbacksDue: () => callbacksDue,
    /** What the tally was told of. */
    ended: ended as readonly EndedTask[],
    told: { cancelled, stages, attempts },
    async admit(fields: Parameters<typeof newTask>[0] = {}): Promise<TaskId> {
      const task = newTask({ createdAt: clock.now(), ...fields });
      const result = await store.tasks.admit({ task, assets: [] });
      if (result.kind !== "admitted") throw new Error(`The task was ${result.kind}`);
      return task.id;
    },
    async task(id: TaskId): Promise<Task> {
      const task = await store.tasks.byId(id);
      if (task === undefined) throw new Error(`${id} is not stored`);
      return task;
    },
    /** Lets everything happen that is due, moving the clock to each due time, until nothing is left or `limit` rounds passed. */
    async runToEnd(limit = 50): Promise<void> {
      for (let round = 0; round < limit; round++) {
        const claimed = await scheduler.tick();
        if (claimed > 0) continue;
        const { nextDueAt } = await store.tasks.claim({
          now: clock.now(),
          leaseMs: 30_000,
          limit: 1,
          lanes: [],
          capacity: 0,
        });
        const waiting = await firstDue(nextDueAt);
        if (waiting === undefined) return;
        clock.set(waiting);
      }
    },
  };

  /** Queued tasks in backoff are seen only by a claim with room; probing a little later finds them. */
  async function firstDue(underWay: number | undefined): Promise<number | undefined> {
    if (underWay !== undefined) return underWay;
    const counts = await store.tasks.counts();
    return counts.queued + counts.underWay > 0 ? clock.now() + 250 : undefined;
  }
}

/** One account at each of these providers. */
export function routingOf(has: (id: ProviderId) => boolean): Routing {
  const wayOf = (index: number, route?: Route) =>
    route && { route, index, lane: route.provider, waitMs: 0, tries: 0, state: "closed" as const };
  return {
    has,
    choose({ routes }, request) {
      const index = routes.findIndex((route) => has(route.provider) && canTake(route, request));
      return wayOf(index, routes[index]);
    },
    closedMs: () => 0,
    giveBack() {},
    verdicts: () => undefined,
    consider: () => [],
  };
}
