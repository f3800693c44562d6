import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import type { LogFields } from "../../src/domain/ports/runtime.ts";
import { createEdge } from "../../src/http/edge.ts";
import type { Reply } from "../../src/http/reply.ts";
import { fakeClock } from "../helpers/engine.ts";

const TIMEOUT_MS = 120_000;
const REPLY: Reply = { status: 200, headers: {}, body: "{}" };

function setup() {
  const clock = fakeClock(0);
  const logged: { level: string; fields: LogFields }[] = [];
  const write = (level: string) => (fields: LogFields) => void logged.push({ level, fields });
  const keptOpen: Request[] = [];
  let timers = 0;
  const edge = createEdge({
    clock: {
      now: clock.now,
      elapsed: clock.elapsed,
      after(delayMs, callback) {
        timers += 1;
        return clock.after(delayMs, () => {
          timers -= 1;
          callback();
        });
      },
    },
    elapsed: clock.now,
    log: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
    timeoutMs: TIMEOUT_MS,
    keepOpen: (request) => void keptOpen.push(request),
  });
  /** Lets seconds pass one by one, as timers see them. */
  const pass = (ms: number) => {
    for (const end = clock.now() + ms; clock.now() < end; ) clock.advance(Math.min(500, end - clock.now()));
  };
  /** A handler that answers when the test says so. */
  const ask = () => {
    const request = new Request("http://localhost/");
    const handler = Promise.withResolvers<Reply>();
    const asked = { request, requestId: "req_1" };
    const outcome = Promise.resolve(edge.within(asked, clock.now(), handler.promise)).catch(
      (error: unknown) => error,
    );
    const isOpen = () => Bun.peek.status(outcome) === "pending";
    return { request, handler, outcome, isOpen };
  };
  return { edge, clock, pass, ask, logged, keptOpen, timers: () => timers };
}

/** Lets everything that is settled be told. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a request is cut at the limit, not before, and one that is answered in time never", async () => {
  const { pass, ask } = setup();
  const late = ask();
  pass(30_000);
  const quick = ask();
  quick.handler.resolve(REPLY);
  pass(TIMEOUT_MS - 30_001);
  await settle();
  expect(late.isOpen()).toBe(true);
  pass(1);
  expect(await late.outcome).toMatchObject({ code: "upstream_timeout" });
  expect(await quick.outcome).toBe(REPLY);
});

test("each request has its own limit, however many began before it", async () => {
  const { pass, ask } = setup();
  const first = ask();
  pass(70_300);
  const second = ask();
  pass(TIMEOUT_MS - 70_300);
  expect(await first.outcome).toBeInstanceOf(AppError);
  pass(70_299);
  await settle();
  expect(second.isOpen()).toBe(true);
  pass(1);
  expect(await second.outcome).toBeInstanceOf(AppError);
});

test("a handler's own refusal is the answer", async () => {
  const { ask } = setup();
  const { handler, outcome } = ask();
  const refusal = new AppError("invalid_request", { kind: "body_not_object" });
  handler.reject(refusal);
  expect(await outcome).toBe(refusal);
});

test("what a cut handler answers is dropped, and a stream is let go", async () => {
  const { pass, ask, logged } = setup();
  const { handler, outcome } = ask();
  pass(TIMEOUT_MS);
  const released = Promise.withResolvers<string>();
  const body = new ReadableStream<Uint8Array>({ cancel: () => released.resolve("released") });
  handler.resolve({ ...REPLY, body });
  expect(await released.promise).toBe("released");
  expect(await outcome).toBeInstanceOf(AppError);
  expect(logged).toEqual([]);
});

test("what a cut handler throws is logged for debugging alone", async () => {
  const { pass, ask, logged } = setup();
  const { handler } = ask();
  pass(TIMEOUT_MS);
  const err = new Error("too late to matter");
  handler.reject(err);
  await settle();
  expect(logged).toEqual([{ level: "debug", fields: { request_id: "req_1", err } }]);
});

test("all requests share one timer, and none is left once they are answered", async () => {
  const { pass, ask, timers } = setup();
  const requests = Array.from({ length: 100 }, ask);
  expect(timers()).toBe(1);
  for (const { handler } of requests) handler.resolve(REPLY);
  await settle();
  pass(1_000);
  expect(timers()).toBe(0);
});

test("an answer that is there at once is not watched", () => {
  const { edge, timers } = setup();
  const asked = { request: new Request("http://localhost/"), requestId: "req_1" };
  expect(edge.within(asked, 0, REPLY)).toBe(REPLY);
  expect(timers()).toBe(0);
});

test("the server's own limit on silence is lifted once, for requests that stay open", async () => {
  const { pass, ask, keptOpen } = setup();
  const slow = ask();
  const quick = ask();
  quick.handler.resolve(REPLY);
  await settle();
  pass(4_000);
  expect(keptOpen).toEqual([]);
  pass(60_000);
  expect(keptOpen).toEqual([slow.request]);
});

test("a handler is told to answer a little before it is cut", () => {
  const { edge } = setup();
  expect(edge.deadline(1_000)).toBe(1_000 + TIMEOUT_MS - 500);
});
