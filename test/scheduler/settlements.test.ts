import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import {
  type Output,
  type PollResult,
  type ProviderAdapter,
  ProviderError,
} from "../../src/domain/ports/provider.ts";
import { laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, LANE, micros, newTask, taskId } from "../helpers/store.ts";

setDefaultTimeout(120_000);

const SECOND = "second" as ProviderId;
const PRICE = 40_000;
const COSTS = [10_000, 25_000] as const;
const costLine = (amount: number) => ({
  version: "1",
  lines: [{ sku: "made", unit: "output" as const, unitMicros: micros(amount) }],
});
const model: Model = {
  ...MODEL,
  id: "sandbox-image" as ModelId,
  price: { version: "1", lines: [{ sku: "image", unit: "output", unitMicros: micros(PRICE) }] },
  routes: [
    { provider: LANE, upstreamModel: "one", cost: costLine(COSTS[0]) },
    { provider: SECOND, upstreamModel: "two", cost: costLine(COSTS[1]) },
  ],
};

const SUBMITS = [
  "job",
  "job",
  "job",
  "made",
  "busy",
  "wait",
  "reroute",
  "refused",
  "lost",
  "unusable",
  "hang",
] as const;
const POLLS = [
  "pending",
  "done",
  "done",
  "free failure",
  "paid failure",
  "gone",
  "busy",
  "wait",
  "stopped",
  "hang",
] as const;
const FILES = ["good", "good", "good", "damaged", "missing", "remote"] as const;

interface Script {
  readonly canStop: boolean;
  readonly submits: (typeof SUBMITS)[number][];
  readonly polls: (typeof POLLS)[number][];
  readonly files: (typeof FILES)[number][];
}

const failing = (...given: ConstructorParameters<typeof ProviderError>): never => {
  throw new ProviderError(...given);
};
const hanging = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** An upstream that does what the script says, and keeps books of what it charges for. */
function createUpstream(script: Script) {
  /** Attempts that it took and charges for. */
  const taken = new Set<string>();
  let isKind = false;
  function relent(): void {
    isKind = true;
  }
  const files = (n: number): Output[] =>
    Array.from({ length: n }, () => {
      const next = script.files.shift() ?? "good";
      if (next === "missing") return { kind: "missing", code: "CONTENT_MODERATED" };
      if (next === "remote") return { kind: "remote", ref: "file" };
      return { kind: "bytes", bytes: Buffer.from(next === "damaged" ? "broken" : "picture") };
    });
  const adapter: Partial<ProviderAdapter> = {
    async submit({ attempt, request }, signal) {
      const next = (isKind ? undefined : script.submits.shift()) ?? "job";
      if (next === "busy") failing("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "busy", { isTooOften: true });
      if (next === "wait") failing("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "wait", { retryAfterMs: 7_000 });
      if (next === "reroute") failing("reroute", "UPSTREAM_REJECTED", "not here");
      if (next === "refused") failing("fail", "CONTENT_MODERATED", "no");
      taken.add(attempt);
      if (next === "lost") failing("unknown", "UPSTREAM_TIMEOUT", "lost");
      if (next === "unusable") failing("unusable", "UPSTREAM_ERROR", "unusable");
      if (next === "hang") await hanging(signal);
      if (next === "made") return { kind: "outputs", outputs: files(request.n) };
      return { kind: "operation", operation: { attempt, n: request.n } };
    },
    async poll(operation, signal): Promise<PollResult> {
      const { attempt, n } = operation as { attempt: string; n: number };
      const next = (isKind ? undefined : script.polls.shift()) ?? "done";
      if (next === "pending") return { kind: "pending" };
      if (next === "busy") failing("retry", "UPSTREAM_ERROR", "busy");
      if (next === "wait")
        failing("retry", "UPSTREAM_ERROR", "wait", { retryAfterMs: 7_000, isUnable: true });
      if (next === "hang") await hanging(signal);
      if (next === "done") return { kind: "succeeded", outputs: files(n) };
      if (next === "paid failure") return { kind: "failed", code: "UPSTREAM_ERROR", isCharged: true };
      taken.delete(attempt);
      if (next === "stopped") return { kind: "cancelled" };
      return {
        kind: "failed",
        code: "UPSTREAM_ERROR",
        ...(next === "gone" ? { isLost: true } : { mayReroute: true }),
      };
    },
    cancel: async () => (script.canStop ? undefined : "unable"),
  };
  return { adapter, taken, relent };
}

type Event =
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "cancel"; readonly task: number }
  | { readonly kind: "crash" | "drain" };
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(60, 450, 2_500, 8_000, 61_000).map((ms) => ({ kind: "advance" as const, ms })),
  },
  { weight: 4, arbitrary: fc.nat(3).map((task) => ({ kind: "cancel" as const, task })) },
  { weight: 2, arbitrary: fc.constantFrom("crash" as const, "drain" as const).map((kind) => ({ kind })) },
);
const anyScript: fc.Arbitrary<Script> = fc.record({
  canStop: fc.boolean(),
  submits: fc.array(fc.constantFrom(...SUBMITS), { maxLength: 12 }),
  polls: fc.array(fc.constantFrom(...POLLS), { maxLength: 25 }),
  files: fc.array(fc.constantFrom(...FILES), { maxLength: 15 }),
});

const turn = async (work: Promise<unknown>) => {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  for (let rounds = 0; !isOver && rounds < 40; rounds += 1) await new Promise(setImmediate);
};

async function live(
  scripts: readonly [Script, Script],
  events: readonly Event[],
  resubmit: boolean,
): Promise<string[]> {
  const upstreams = scripts.map((script) =>
    createUpstream({
      ...script,
      submits: [...script.submits],
      polls: [...script.polls],
      files: [...script.files],
    }),
  );
  const [first, second] = upstreams as [ReturnType<typeof createUpstream>, ReturnType<typeof createUpstream>];
  const onUnknown = resubmit ? ("resubmit" as const) : ("fail" as const);
  const providers = [
    scriptedProvider({ ...first.adapter, concurrency: 2, onUnknown }),
    scriptedProvider({ ...second.adapter, id: SECOND, concurrency: 2 }),
  ];
  const engine = await createEngine(providers, { models: [model] });
  const boot = () =>
    createScheduler(engine.deps, {
      concurrency: 100,
      steps: 100,
      leaseMs: 30_000,
      lanes: () => laneCapacities(providers),
    });
  let scheduler = boot();
  const ids: TaskId[] = [];
  for (const n of [1, 2, 3, 3]) {
    const { request, quote } = newTask();
    const held = micros(PRICE * n);
    const fields = { request: { ...request, n }, quote: { ...quote, outputs: n, ceiling: held }, held };
    ids.push(await engine.admit({ id: taskId(ids.length + 1), ...fields }));
  }
  const restart = async () => {
    await engine.deps.tasks.rescue(engine.clock.now());
    scheduler = boot();
  };
  for (const event of events) {
    if (event.kind === "advance") engine.clock.advance(event.ms);
    if (event.kind === "cancel")
      await engine.store.tasks.requestCancel(ids[event.task]!, ACCOUNT, engine.clock.now());
    if (event.kind === "drain") await scheduler.drain(0);
    if (event.kind === "drain" || event.kind === "crash") await restart();
    await turn(scheduler.tick());
  }
  for (const { relent } of upstreams) relent();
  await scheduler.drain(0);
  await restart();
  for (let i = 0; i < 40; i += 1) {
    engine.clock.advance(31_000);
    await turn(scheduler.tick());
  }
  const faults = await faultsOf(
    engine,
    ids,
    upstreams.flatMap(({ taken }) => [...taken]),
  );
  await engine.store.stop();
  return faults;
}

async function faultsOf(
  engine: Awaited<ReturnType<typeof createEngine>>,
  ids: readonly TaskId[],
  taken: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  let charged = 0;
  for (const id of ids) {
    const task = await engine.task(id);
    const own = Number(task.charged ?? 0);
    charged += own;
    const due = task.status === "completed" ? PRICE * task.results.length : 0;
    if (task.stage !== "terminal") faults.push(`${id} is left ${task.stage}`);
    if (task.status === "completed" && task.results.length === 0) faults.push(`${id} has nothing`);
    if (own !== due) faults.push(`${id} ${task.status} with ${task.results.length} cost ${own}`);
    const attempts = await engine.store.tasks.attempts(id);
    for (const attempt of attempts) {
      const booked = Number(attempt.costMicros ?? 0);
      const line = attempt.lane === LANE ? COSTS[0] : COSTS[1];
      if (taken.includes(attempt.id) && booked === 0)
        faults.push(
          `${attempt.id} (${attempt.state}) of ${id} (${task.status}) is charged for upstream, and not booked`,
        );
      if (booked > line * task.request.n) faults.push(`${attempt.id} is booked at ${booked}`);
    }
  }
  const account = await engine.store.accounts.account(ACCOUNT);
  if (Number(account?.held) !== 0) faults.push(`${account?.held} stays held`);
  if (Number(account?.balance) !== -charged)
    faults.push(`the balance is ${account?.balance}, charged was ${charged}`);
  return faults;
}

test("whatever happens, callers pay for what they have, and operators' books have what upstreams charge for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(anyScript, anyScript),
      fc.array(anyEvent, { maxLength: 30 }),
      fc.boolean(),
      async (scripts, events, resubmit) => {
        expect(await live(scripts, events, resubmit)).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});
