import { expect, test } from "bun:test";
import { type PollResult, ProviderError } from "../../src/domain/ports/provider.ts";
import { createEngine, type fakeClock, scriptedProvider } from "../helpers/engine.ts";
import { LANE, lane } from "../helpers/store.ts";

const SECOND = lane("second");
const made: PollResult = { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
const uncharged: PollResult = { kind: "failed", code: "UPSTREAM_ERROR", mayReroute: true, detail: "no room" };
type Hands = { clock?: ReturnType<typeof fakeClock> };

/** An upstream that takes 100 ms to take a job, and is done when it is asked. */
const slow = (hands: Hands, answer: PollResult = made) => ({
  submit: async () => {
    hands.clock?.advance(100);
    return { kind: "operation" as const, operation: {}, pollAfterMs: 2_000 };
  },
  poll: async () => answer,
});

test("each stage of a task is told when it ends, with the time that it took", async () => {
  const hands: Hands = {};
  const engine = await createEngine([scriptedProvider(slow(hands))]);
  hands.clock = engine.clock;
  await engine.admit();
  engine.clock.advance(400);
  await engine.runToEnd();
  expect(engine.told.stages).toEqual([
    { stage: "queued", lane: LANE, durationMs: 400 },
    { stage: "submitting", lane: LANE, durationMs: 100 },
    { stage: "running", lane: LANE, durationMs: 2_000 },
    { stage: "finalizing", lane: LANE, durationMs: 0 },
  ]);
  expect(engine.ended).toMatchObject([{ status: "completed", durationMs: 2_500 }]);
});

test("a task during which the clock was set back took no negative time", async () => {
  const hands: Hands = {};
  const poll = async () => {
    hands.clock?.advance(-3_600_000);
    return made;
  };
  const engine = await createEngine([scriptedProvider({ ...slow(hands), poll })]);
  hands.clock = engine.clock;
  await engine.admit();
  await engine.runToEnd();
  expect(engine.ended).toMatchObject([{ status: "completed", durationMs: 0 }]);
});

test("attempts are told once each: rejected, failed and completed", async () => {
  const hands: Hands = {};
  const broken = new ProviderError("retry", "UPSTREAM_ERROR", "it answered 500");
  const refusing = { submit: () => Promise.reject(broken) };
  const engine = await createEngine([
    scriptedProvider(refusing),
    scriptedProvider({ id: SECOND, ...slow(hands) }),
  ]);
  await engine.admit();
  await engine.runToEnd();
  expect(
    engine.told.attempts.map(({ lane: at, upstreamModel, outcome }) => [at, upstreamModel, outcome]),
  ).toEqual([
    [LANE, "one", "rejected"],
    [SECOND, "two", "completed"],
  ]);
  // The first way was passed on from the queue, so the task was queued once.
  expect(engine.told.stages.filter(({ stage }) => stage === "queued")).toHaveLength(1);

  const failing = await createEngine([scriptedProvider(slow(hands, uncharged))]);
  await failing.admit();
  await failing.runToEnd();
  expect(failing.told.attempts.map(({ outcome }) => outcome)).toEqual(["failed"]);
});

test("an attempt whose answer was lost is unanswered once, however often it is sent again", async () => {
  const lost = new ProviderError("unknown", "UPSTREAM_TIMEOUT", "no answer");
  let sends = 0;
  const engine = await createEngine([
    scriptedProvider({
      submitIsIdempotent: true,
      async submit() {
        sends += 1;
        if (sends < 4) throw lost;
        return { kind: "operation", operation: {} };
      },
      poll: async () => made,
    }),
  ]);
  await engine.admit();
  await engine.runToEnd();
  expect(sends).toBe(4);
  expect(engine.told.attempts.map(({ outcome }) => outcome)).toEqual(["unanswered", "completed"]);
});
