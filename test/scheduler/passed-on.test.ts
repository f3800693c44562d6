import { expect, test } from "bun:test";
import type { PollResult, ProviderAdapter } from "../../src/domain/ports/provider.ts";
import { verdictOf } from "../../src/domain/task/story.ts";
import { failedJob, refusedSubmission } from "../../src/providers/kit/classify.ts";
import type { Meaning } from "../../src/providers/kit/refusal.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, lane, micros } from "../helpers/store.ts";

type Failed = PollResult & { readonly kind: "failed" };
const overloaded: Failed = {
  kind: "failed",
  code: "UPSTREAM_CAPACITY_EXHAUSTED",
  detail: "First: no GPU",
  mayReroute: true,
};
const poll = (answer: PollResult): Partial<ProviderAdapter> => ({ poll: async () => answer });

/** A model of two routes, whose second one does as given. */
async function setup(first: PollResult, second: Partial<ProviderAdapter> = {}) {
  const providers = [
    scriptedProvider(poll(first)),
    scriptedProvider({ id: lane("second"), ...second }),
  ] as const;
  const engine = await createEngine(providers);
  return { engine, one: providers[0], two: providers[1] };
}

test("a job that failed uncharged is made on the next route, on one hold, and charged once", async () => {
  const held: unknown[] = [];
  const { engine, two } = await setup(overloaded, {
    async submit() {
      held.push((await engine.store.accounts.account(ACCOUNT))?.held);
      return { kind: "operation", operation: "second job" };
    },
  });
  const line = { sku: "m", unit: "output", unitMicros: micros(40_000), perOutput: 1 } as const;
  const id = await engine.admit({
    quote: { priceVersion: "1", outputs: 1, lines: [line], ceiling: micros(40_000) },
    held: micros(40_000),
  });
  await engine.runToEnd();
  const task = await engine.task(id);
  expect(task).toMatchObject({
    status: "completed",
    lane: "second",
    routeIndex: 1,
    charged: 40_000,
  } as never);
  expect(held).toEqual([40_000]);
  expect(await engine.store.accounts.account(ACCOUNT)).toMatchObject({ held: 0, balance: -40_000 });
  expect(two.submissions.map(({ upstreamModel }) => upstreamModel)).toEqual(["two"]);
  const attempts = await engine.store.tasks.attempts(id);
  expect(attempts.map(({ upstreamModel, state, detail }) => [upstreamModel, state, detail])).toEqual([
    ["one", "done", "First: no GPU"],
    ["two", "done", undefined],
  ]);
  expect(attempts.map((attempt) => verdictOf(task, attempt).outcome)).toEqual(["failed", "completed"]);
});

test("the failure on the last route ends the task, which has the time of its first submission", async () => {
  const last: Failed = { ...overloaded, code: "UPSTREAM_ERROR", detail: "Second: broken" };
  const { engine, one, two } = await setup(overloaded, poll(last));
  const id = await engine.admit();
  await engine.runToEnd();
  const task = await engine.task(id);
  expect(task).toMatchObject({
    status: "failed",
    error: { code: "UPSTREAM_ERROR" },
    charged: 0,
  } as never);
  expect(task.deadlineAt).toBe((task.startedAt ?? 0) + MODEL.deadlineMs);
  expect([one.submissions.length, two.submissions.length]).toEqual([1, 1]);
});

test("a job that failed goes on to a route that refused the task before", async () => {
  let isStarting = true;
  const one = scriptedProvider({
    async submit() {
      if (isStarting) throw refusedSubmission({ meaning: "busy", status: 503, detail: "starting" });
      return { kind: "operation", operation: "first job" };
    },
  });
  const two = scriptedProvider({
    id: lane("second"),
    async poll() {
      isStarting = false;
      return overloaded;
    },
  });
  const engine = await createEngine([one, two]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  const attempts = await engine.store.tasks.attempts(id);
  expect(attempts.map(({ upstreamModel, state }) => `${upstreamModel} ${state}`)).toEqual([
    ...["one rejected", "two done", "one done"],
  ]);
});

const jobs = (meaning: Meaning) => failedJob({ meaning, detail: meaning, status: 200 }) as Failed;

test.each([
  ...(["busy", "broken", "refused", "spent", "looped"] as const).map(
    (each) => [each, jobs(each), 1] as const,
  ),
  ...(["moderated", "bad_input", "slow", "unclear"] as const).map((each) => [each, jobs(each), 0] as const),
  ["broken and charged for", { ...jobs("broken"), isCharged: true }, 0] as const,
])(
  "a job that ended as %s is tried on the next route as often as it may be: %#",
  async (_, answer, tries) => {
    const { engine, two } = await setup(answer);
    const id = await engine.admit();
    await engine.runToEnd();
    expect(two.submissions).toHaveLength(tries);
    const { status, error } = await engine.task(id);
    expect([status, error?.code]).toEqual(tries === 1 ? ["completed", undefined] : ["failed", answer.code]);
  },
);

test("a failed job that its owner cancelled, or that is overdue, is tried nowhere else", async () => {
  const cancelled = await setup(overloaded);
  const id = await cancelled.engine.admit();
  await cancelled.engine.scheduler.tick();
  await cancelled.engine.store.tasks.requestCancel(id, ACCOUNT, cancelled.engine.clock.now());
  await cancelled.engine.runToEnd();

  const late = await setup(overloaded);
  const other = await late.engine.admit();
  await late.engine.scheduler.tick();
  late.engine.clock.advance(MODEL.deadlineMs);
  await late.engine.runToEnd();

  for (const [{ engine, two }, task] of [[cancelled, id] as const, [late, other] as const]) {
    expect(two.submissions).toEqual([]);
    expect(await engine.task(task)).toMatchObject({
      status: "failed",
      error: { code: "UPSTREAM_CAPACITY_EXHAUSTED" },
    });
  }
});

test("a cancel while the next route has no room ends the task, and no upstream hears of it", async () => {
  const { engine, one, two } = await setup(overloaded, { concurrency: 0 });
  const id = await engine.admit();
  await engine.scheduler.tick();
  engine.clock.advance(30_000);
  await engine.scheduler.tick();
  engine.clock.advance(1);
  await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  await engine.runToEnd();
  expect([one.cancelled, two.submissions]).toEqual([[], []]);
  const task = await engine.task(id);
  const [attempt] = await engine.store.tasks.attempts(id);
  expect([task.status, attempt && verdictOf(task, attempt).outcome]).toEqual(["cancelled", "failed"]);
  expect(await engine.store.accounts.account(ACCOUNT)).toMatchObject({ held: 0, balance: 0 });
});
