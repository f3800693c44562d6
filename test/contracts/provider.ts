import { afterEach, describe, expect, test } from "bun:test";
import { TASK_ERROR_CODES } from "../../src/domain/errors.ts";
import type { Json } from "../../src/domain/json.ts";
import {
  type Output,
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../src/domain/ports/provider.ts";

/** One adapter with an upstream that does as the test says. */
export interface ProviderHarness {
  readonly provider: ProviderAdapter;
  /** A new submission, of an attempt and a task of its own. */
  request(kind: RehearsedKind): SubmitRequest;
  /** Lets the upstream work for so long. */
  advance(ms: number): Promise<void>;
  /** The same upstream seen by a new process; the adapter before is gone without having been stopped. */
  restart?(): Promise<ProviderAdapter>;
  /** How many submissions have arrived, of an upstream that cannot know an attempt again. */
  arrived?(): number;
  stop(): Promise<void>;
}

/**
 * `done` two outputs soon · `failing` accepted, then failed · `busy` refused for now · `endless` never done by itself. Where
 * outputs come in the answer itself, `failing` is refused for good, and `endless` is not asked for.
 */
export type RehearsedKind = "done" | "failing" | "busy" | "endless";

const NOT_OPERATIONS: readonly Json[] = [
  null,
  true,
  0,
  "",
  "x",
  [],
  {},
  { id: 7 },
  { id: "unknown" },
  [{ id: "unknown" }],
];

/**
 * What every provider keeps to (`src/domain/ports/provider.ts`), as far as it can be said without knowing the upstream. Each
 * statement stands for a defect seen in a widely used gateway.
 */
export function describeProvider(name: string, open: () => Promise<ProviderHarness>): void {
  describe(`provider ${name}`, () => {
    const opened: ProviderHarness[] = [];
    const setup = async (): Promise<ProviderHarness> => {
      const harness = await open();
      opened.push(harness);
      return harness;
    };
    afterEach(async () => {
      for (const harness of opened.splice(0)) await harness.stop();
    });
    const signal = new AbortController().signal;

    test("takes at least one task at once", async () => {
      const { provider } = await setup();
      expect(provider.concurrency).toBeGreaterThan(0);
      expect(Number.isInteger(provider.concurrency)).toBe(true);
    });

    test("a submission ends with as many outputs as were asked for, and its operation survives JSON", async () => {
      const harness = await setup();
      const request = harness.request("done");
      const end = await endOf(harness, request);
      expect(end.kind).toBe("succeeded");
      expect(outputsOf(end)).toHaveLength(request.request.n);
    });

    test("a reference to an output survives JSON, and can be fetched more than once", async () => {
      const harness = await setup();
      const end = await endOf(harness, harness.request("done"));
      for (const output of outputsOf(end)) {
        if (output.kind !== "remote") continue;
        const ref = throughJson(output.ref);
        const first = await fetchAll(harness.provider, ref);
        expect(first.length).toBeGreaterThan(0);
        expect(await fetchAll(harness.provider, ref)).toEqual(first);
      }
    });

    test("asking again after the end gets the same answer", async () => {
      const harness = await setup();
      if (!harness.provider.poll) return;
      for (const kind of ["done", "failing"] as const) {
        const operation = operationOf(await harness.provider.submit(harness.request(kind), signal));
        const end = await pollToEnd(harness, harness.provider, operation);
        await harness.advance(60_000);
        expect(await askAgain(harness.provider, operation, end)).toEqual(end);
      }
    });

    test("progress is told in percent, and polls are not asked for in the past", async () => {
      const harness = await setup();
      if (!harness.provider.poll) return;
      const submitted = await harness.provider.submit(harness.request("done"), signal);
      const operation = operationOf(submitted);
      for (let i = 0; i < 20; i++) {
        const answer = await harness.provider.poll?.(operation, signal);
        if (answer?.kind !== "pending") return;
        expect(answer.progress ?? 0).toBeWithin(0, 101);
        expect(answer.pollAfterMs ?? 0).toBeGreaterThanOrEqual(0);
        await harness.advance(answer.pollAfterMs ?? 100);
      }
    });

    test("a failure has a stable code", async () => {
      const harness = await setup();
      const end = await endOf(harness, harness.request("failing"));
      expect(end.kind).toBe("failed");
      if (end.kind !== "failed") return;
      expect(TASK_ERROR_CODES).toContain(end.code);
      if (end.code === "CONTENT_MODERATED" || end.isCharged) expect(end.mayReroute).not.toBe(true);
    });

    test("want of capacity is a reason to try again, and leaves nothing behind", async () => {
      const harness = await setup();
      const request = harness.request("busy");
      const error = await rejection(harness.provider.submit(request, signal));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({ disposition: "retry" });
      if (harness.provider.recover) {
        expect(await harness.provider.recover(request, signal)).toEqual({ kind: "absent" });
      }
    });

    test("an attempt sent twice is not made twice", async () => {
      const { provider, request, arrived } = await setup();
      const submission = request("done");
      const first = await provider.submit(submission, signal);
      // What knows no attempt again must not be sent one again unasked.
      if (arrived) expect(arrived()).toBe(1);
      if (arrived && !provider.submitIsIdempotent) return;
      const second = await provider.submit(submission, signal).catch((error: unknown) => error);
      if (!provider.submitIsIdempotent) expect(second).toBeInstanceOf(Error);
      else if (first.kind === "outputs") expect(second).toEqual(first);
      else expect(second).toMatchObject({ kind: "operation", operation: first.operation });
    });

    test("an aborted submission is never accepted afterwards", async () => {
      const { provider, request } = await setup();
      const submission = request("done");
      const reason = new Error("The worker stops.");
      expect(await rejection(provider.submit(submission, AbortSignal.abort(reason)))).toBe(reason);
      if (provider.recover) expect(await provider.recover(submission, signal)).toEqual({ kind: "absent" });
    });

    test("every question stops when its signal aborts", async () => {
      const harness = await setup();
      const { provider } = harness;
      const { operation = null, end } = await outcomeOf(harness, harness.request("done"));
      const reason = new Error("The worker stops.");
      const aborted = AbortSignal.abort(reason);
      const remote = outputsOf(end).find((output) => output.kind === "remote");
      const questions = [
        provider.poll?.(operation, aborted),
        provider.cancel?.(operation, aborted),
        provider.recover?.(harness.request("done"), aborted),
        remote?.kind === "remote" ? provider.fetchOutput?.(remote.ref, aborted) : undefined,
      ];
      for (const question of questions) if (question) expect(await rejection(question)).toBe(reason);
    });

    test("what was cancelled says so, and stays so", async () => {
      const harness = await setup();
      const { provider } = harness;
      if (!provider.cancel) return;
      const operation = operationOf(await provider.submit(harness.request("endless"), signal));
      expect(await provider.poll?.(operation, signal)).toMatchObject({ kind: "pending" });
      await provider.cancel(operation, signal);
      expect(await pollToEnd(harness, provider, operation)).toEqual({ kind: "cancelled" });
      await provider.cancel(operation, signal);
      expect(await provider.poll?.(operation, signal)).toEqual({ kind: "cancelled" });
    });

    test("a cancel that comes too late changes nothing", async () => {
      const harness = await setup();
      const { provider } = harness;
      if (!provider.cancel) return;
      const operation = operationOf(await provider.submit(harness.request("done"), signal));
      const end = await pollToEnd(harness, provider, operation);
      await provider.cancel(operation, signal);
      expect(await askAgain(provider, operation, end)).toEqual(end);
    });

    test("a submission whose answer was lost is found by its attempt", async () => {
      const harness = await setup();
      const { provider } = harness;
      if (!provider.recover) return;
      const request = harness.request("done");
      const operation = operationOf(await provider.submit(request, signal));
      const found = await provider.recover(request, signal);
      expect(found).toEqual({ kind: "found", operation });
      expect(await provider.recover(harness.request("done"), signal)).toEqual({ kind: "absent" });
    });

    test("an operation outlives the process that submitted it", async () => {
      const harness = await setup();
      if (!harness.restart || !harness.provider.poll) return;
      const request = harness.request("done");
      const operation = throughJson(operationOf(await harness.provider.submit(request, signal)));
      const provider = await harness.restart();
      if (provider.recover) {
        expect(await provider.recover(request, signal)).toEqual({ kind: "found", operation });
      }
      const end = await pollToEnd(harness, provider, operation);
      expect(end.kind).toBe("succeeded");
      for (const output of outputsOf(end)) {
        if (output.kind === "remote")
          expect((await fetchAll(provider, output.ref)).length).toBeGreaterThan(0);
      }
    });

    test.each(NOT_OPERATIONS.map((handle) => [handle]))(
      "no operation of its own, and refused for good: %j",
      async (handle) => {
        const { provider } = await setup();
        const questions = [
          () => provider.poll?.(handle, signal),
          () => provider.cancel?.(handle, signal),
          () => provider.fetchOutput?.(handle, signal),
        ];
        for (const ask of questions) {
          const answer = ask();
          if (answer === undefined) continue;
          const error = await rejection(answer);
          expect(error).toBeInstanceOf(ProviderError);
          expect(error).toMatchObject({ disposition: "fail" });
        }
      },
    );

    test("stopping is harmless, twice and unused", async () => {
      const { provider } = await setup();
      await provider.stop?.();
      await provider.stop?.();
    });

    test("nothing is accepted once stopped", async () => {
      const { provider, request } = await setup();
      await provider.submit(request("done"), signal);
      if (!provider.stop) return;
      await provider.stop();
      expect(await rejection(provider.submit(request("done"), signal))).toBeInstanceOf(Error);
    });
  });
}

/** What becomes of a submission, whether its outputs come in the answer or are to be asked after. */
async function outcomeOf(
  harness: ProviderHarness,
  request: SubmitRequest,
): Promise<{ readonly operation?: Json; readonly end: PollResult }> {
  const { provider } = harness;
  try {
    const submitted = await provider.submit(request, new AbortController().signal);
    if (submitted.kind === "outputs") return { end: { ...submitted, kind: "succeeded" } };
    const operation = throughJson(submitted.operation);
    return { operation, end: await pollToEnd(harness, provider, operation) };
  } catch (error) {
    if (provider.poll || !(error instanceof ProviderError) || error.disposition !== "fail") throw error;
    return { end: { kind: "failed", code: error.code, message: error.publicMessage } };
  }
}

async function endOf(harness: ProviderHarness, request: SubmitRequest): Promise<PollResult> {
  return (await outcomeOf(harness, request)).end;
}

/** Polls as the scheduler does, until the operation ends. */
export async function pollToEnd(
  harness: Pick<ProviderHarness, "advance">,
  provider: ProviderAdapter,
  operation: Json,
): Promise<PollResult> {
  if (!provider.poll) throw new Error("This provider does not poll.");
  for (let polls = 0; polls < 200; polls++) {
    const answer = await provider.poll(operation, new AbortController().signal);
    if (answer.kind !== "pending") return answer;
    await harness.advance(answer.pollAfterMs ?? 100);
  }
  throw new Error("The operation does not end.");
}

export function operationOf(submitted: Submitted): Json {
  if (submitted.kind !== "operation")
    throw new Error("The provider answered with outputs instead of an operation.");
  return submitted.operation;
}

/** Polls once more. Where bytes came with the first answer and can be fetched now, it fetches them. */
async function askAgain(
  provider: ProviderAdapter,
  operation: Json,
  first: PollResult,
): Promise<PollResult | undefined> {
  const again = await provider.poll?.(operation, new AbortController().signal);
  if (again?.kind !== "succeeded") return again;
  const outputs = again.outputs.map(async (output, i): Promise<Output> => {
    const isFetched = output.kind === "remote" && outputsOf(first)[i]?.kind === "bytes";
    return isFetched ? { kind: "bytes", bytes: await fetchAll(provider, output.ref) } : output;
  });
  return { ...again, outputs: await Promise.all(outputs) };
}

function outputsOf(end: PollResult) {
  return end.kind === "succeeded" ? end.outputs : [];
}

/** All bytes of an output. */
export async function fetchAll(provider: ProviderAdapter, ref: Json): Promise<Uint8Array> {
  if (!provider.fetchOutput) throw new Error("This provider has remote outputs and no way to fetch them.");
  const chunks = await Array.fromAsync(await provider.fetchOutput(ref, new AbortController().signal));
  return new Uint8Array(Buffer.concat(chunks));
}

/** The error a promise rejects with. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error("It did not reject.")),
    (error: unknown) => error,
  );
}

function throughJson<T>(value: T): T {
  // What JSON changes, the comparison that follows finds.
  return JSON.parse(JSON.stringify(value)) as T;
}
