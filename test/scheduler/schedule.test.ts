import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { TaskId } from "../../src/domain/ids.ts";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import { RESUME_DELAY_MS, retryDelayMs } from "../../src/domain/task/backoff.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, LANE } from "../helpers/store.ts";

setDefaultTimeout(120_000);

/** What the upstream does with one question. A `hang` is answered by nothing but an end of the process. */
const ANSWERS = [
  "good",
  "lost",
  "busy",
  "wait",
  "at once",
  "broken",
  "refused",
  "unusable",
  "hang",
  "gone",
] as const;
type Answer = (typeof ANSWERS)[number];
const RETRY_AFTER_MS = 7_000;
/** Whatever an upstream asks for. */
const SHORTEST_WAIT_MS = 500;
const FIRST_POLL_MS = 100;
const CAPACITY = 2;

const KINDS = ["plain", "idempotent", "safe", "asked"] as const;
type Kind = (typeof KINDS)[number];

/** What the upstream has seen of one task. */
interface Seen {
  /** No question may come before. */
  notBefore: number;
  /** Whether the present wait is one that the first cancel may cut short. */
  isUsualPoll: boolean;
  isCancelNews: boolean;
  /** Failures in a row. */
  failures: number;
  /** Attempts that it may have taken, and that it has not disowned. */
  readonly taken: Set<string>;
}

/** An upstream that answers by a script, and finds fault with every question that comes too early or makes a task twice. */
function createWitness(kind: Kind, now: () => number) {
  const seen = new Map<string, Seen>();
  const faults: string[] = [];
  const open = { submissions: 0, hanging: 0 };
  let script: Answer[] = [];
  let isRecorded = true;

  const of = (task: string): Seen => {
    const known = seen.get(task);
    if (known !== undefined) return known;
    const fresh = {
      notBefore: 0,
      isUsualPoll: false,
      isCancelNews: false,
      failures: 0,
      taken: new Set<string>(),
    };
    seen.set(task, fresh);
    return fresh;
  };

  function arrive(task: string, what: string): Seen {
    const each = of(task);
    const isEarly = now() < each.notBefore;
    if (isEarly && !(each.isCancelNews && each.isUsualPoll))
      faults.push(`${what} of ${task} came ${each.notBefore - now()} ms early`);
    if (isEarly) each.isCancelNews = false;
    // Until it is answered: what is cut short is not repeated at once.
    wait(each, RESUME_DELAY_MS);
    return each;
  }
  function wait(each: Seen, delayMs: number, isUsualPoll = false): void {
    each.notBefore = now() + delayMs;
    each.isUsualPoll = isUsualPoll;
  }
  function fail(each: Seen, error: ProviderError): never {
    each.failures += 1;
    const asked = error.details.retryAfterMs;
    wait(each, asked === undefined ? retryDelayMs(each.failures, 0.5) : Math.max(asked, SHORTEST_WAIT_MS));
    throw error;
  }

  async function trouble(each: Seen, answer: Answer, signal: AbortSignal): Promise<void> {
    const raise = (...given: ConstructorParameters<typeof ProviderError>) =>
      fail(each, new ProviderError(...given));
    if (answer === "lost") raise("unknown", "UPSTREAM_TIMEOUT", "lost");
    if (answer === "busy") raise("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "busy");
    if (answer === "wait")
      raise("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "wait", { retryAfterMs: RETRY_AFTER_MS });
    if (answer === "at once") raise("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "at once", { retryAfterMs: 0 });
    if (answer === "broken") raise("retry", "UPSTREAM_ERROR", "broken", { isFailure: true });
    if (answer === "refused") raise("reroute", "UPSTREAM_REJECTED", "refused");
    if (answer === "unusable") raise("unusable", "UPSTREAM_ERROR", "unusable");
    if (answer !== "hang") return;
    open.hanging += 1;
    await new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => {
        open.hanging -= 1;
        reject(signal.reason);
      }),
    );
  }

  const adapter: Partial<ProviderAdapter> = {
    submitIsIdempotent: kind === "idempotent",
    repeatIsSafe: kind === "safe",
    concurrency: CAPACITY,
    async submit({ taskId, attempt }, signal) {
      const each = arrive(taskId, "a submission");
      const wasTaken = each.taken.has(attempt);
      each.taken.add(attempt);
      if (each.taken.size > 1 && kind !== "safe") faults.push(`${taskId} was made twice`);
      open.submissions += 1;
      if (open.submissions > CAPACITY) faults.push(`${open.submissions} submissions at once`);
      const answer = script.shift() ?? "good";
      try {
        await trouble(each, answer, signal);
      } catch (error) {
        const isRefused = error instanceof ProviderError && /retry|reroute/.test(error.disposition);
        if (isRefused && !wasTaken) each.taken.delete(attempt);
        throw error;
      } finally {
        open.submissions -= 1;
      }
      each.failures = 0;
      wait(each, FIRST_POLL_MS, true);
      return { kind: "operation", operation: { task: taskId, attempt } };
    },
    async poll(operation, signal): Promise<PollResult> {
      const { task, attempt } = operation as { task: string; attempt: string };
      const each = arrive(task, "a poll");
      const answer = script.shift() ?? "good";
      if (answer === "gone") {
        each.taken.delete(attempt);
        each.failures = 0;
        wait(each, retryDelayMs(1, 0.5));
        return { kind: "failed", code: "UPSTREAM_ERROR", isLost: true };
      }
      await trouble(each, answer, signal);
      each.failures = 0;
      if (isRecorded && script.length % 2 === 1) {
        wait(each, FIRST_POLL_MS, true);
        return { kind: "pending" };
      }
      return { kind: "succeeded", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
    cancel: async () => {},
  };
  if (kind === "asked") {
    adapter.recover = async ({ attempt }, signal) => {
      const [task = ""] = [...seen].find(([, { taken }]) => taken.has(attempt)) ?? [];
      const each = arrive(task, "a question");
      const answer = script.shift() ?? "good";
      await trouble(each, answer, signal);
      if (answer === "gone") {
        each.taken.delete(attempt);
        each.notBefore = now();
        return { kind: "absent" };
      }
      each.failures = 0;
      wait(each, FIRST_POLL_MS, true);
      return { kind: "found", operation: { task, attempt } };
    };
  }
  return {
    faults,
    open,
    adapter,
    play: (answers: readonly Answer[]) => {
      script = [...answers];
    },
    /** From now on everything goes well. */
    relent: () => {
      script = [];
      isRecorded = false;
    },
    cancelled(task: TaskId, isFirst: boolean): void {
      if (isFirst) of(task).isCancelNews = true;
    },
    /** The process that asked is gone: nobody waits for what hangs. */
    forget: () => {
      open.submissions = 0;
    },
  };
}

type Event =
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "cancel"; readonly task: number; readonly times: number }
  | { readonly kind: "crash" | "drain" | "provider_off" | "provider_on" | "lease_loss" };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 60, 150, 450, 600, 2_500, 8_000, 40_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("cancel" as const),
      task: fc.nat(3),
      times: fc.constantFrom(1, 1, 5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("crash", "drain", "provider_off", "provider_on", "lease_loss")
      .map((kind) => ({ kind }) as Event),
  },
);

const settled = async (isQuiet: () => boolean, work: Promise<unknown>) => {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  // A step that hangs never ends. Everything else of the turn is over after a few rounds of the event loop.
  for (let rounds = 0; !isOver && (rounds < 25 || !isQuiet()); rounds += 1) await new Promise(setImmediate);
};

async function live(kind: Kind, answers: readonly Answer[], events: readonly Event[]): Promise<string[]> {
  const providers: ProviderAdapter[] = [];
  const engine = await createEngine(providers);
  const witness = createWitness(kind, engine.clock.now);
  const provider = scriptedProvider(witness.adapter);
  providers.push(provider);
  witness.play(answers);
  const options = {
    concurrency: 100,
    steps: 100,
    leaseMs: 30_000,
    lanes: () => [{ lane: LANE, capacity: CAPACITY }],
  };
  const boot = () => createScheduler(engine.deps, options);
  let scheduler = boot();
  const ids: TaskId[] = [];
  for (let number = 1; number <= 4; number += 1) ids.push(await engine.admit({ number }));
  const work = () => settled(() => witness.open.hanging > 0, scheduler.tick());
  const restart = async () => {
    witness.forget();
    await engine.deps.tasks.rescue(engine.clock.now());
    scheduler = boot();
  };
  const cancelled = new Set<TaskId>();

  for (const each of events) {
    if (each.kind === "advance") engine.clock.advance(each.ms);
    if (each.kind === "lease_loss") engine.clock.advance(31_000);
    if (each.kind === "crash") await restart();
    if (each.kind === "drain") {
      await scheduler.drain(0);
      await restart();
    }
    if (each.kind === "provider_off") providers.length = 0;
    if (each.kind === "provider_on" && providers.length === 0) providers.push(provider);
    if (each.kind === "cancel") {
      const id = ids[each.task] as TaskId;
      for (let i = 0; i < each.times; i += 1) {
        witness.cancelled(id, !cancelled.has(id));
        cancelled.add(id);
        await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
        await work();
      }
    }
    await work();
  }

  witness.relent();
  if (providers.length === 0) providers.push(provider);
  await restart();
  for (let i = 0; i < 12; i += 1) {
    engine.clock.advance(40_000);
    await settled(() => true, scheduler.tick());
  }
  const stages = await Promise.all(ids.map(async (id) => (await engine.task(id)).stage));
  if (stages.some((stage) => stage !== "terminal")) witness.faults.push(`tasks left behind: ${stages}`);
  const { held } = (await engine.store.accounts.account(ACCOUNT)) ?? {};
  if (held !== 0) witness.faults.push(`${held} stays held`);
  return witness.faults;
}

const wait = (ms: number): Event => ({ kind: "advance", ms });
const cancel: Event = { kind: "cancel", task: 1, times: 1 };

/** Sequences that were found wanting once. */
const FOUND: [Answer[], Event[]][] = [
  [
    ["lost", "good", "good", "wait"],
    [wait(1), wait(2_500), wait(2_500)],
  ],
  [
    ["good", "good", "good", "hang"],
    [wait(1), wait(150), cancel, { kind: "drain" }],
  ],
  [
    ["good", "good", "good", "hang"],
    [{ kind: "crash" }, wait(600), { kind: "crash" }, cancel],
  ],
];

test.each(KINDS)(
  "no sequence of events asks an upstream that is %s more often than its schedule, or makes a task twice",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...ANSWERS), { maxLength: 40 }),
        fc.array(event, { maxLength: 30 }),
        async (answers, events) => {
          expect(await live(kind, answers, events)).toEqual([]);
        },
      ),
      { numRuns: 25, examples: FOUND },
    );
  },
);
