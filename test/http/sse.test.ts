import { describe, expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { type EventStreamOptions, type EventWriter, eventStream } from "../../src/http/sse.ts";
import { createStandings, type Standing } from "../../src/http/standing.ts";
import { fakeClock } from "../helpers/engine.ts";
import { PRINCIPAL } from "../helpers/principal.ts";

const RETRY = "retry: 3000\n\n";

/** A clock that knows how many timers are running. */
function countingClock() {
  const clock = fakeClock(0);
  let timers = 0;
  return {
    ...clock,
    timers: () => timers,
    after(delayMs: number, callback: () => void) {
      let isRunning = true;
      timers += 1;
      const stop = () => {
        if (isRunning) timers -= 1;
        isRunning = false;
      };
      const cancel = clock.after(delayMs, () => {
        stop();
        callback();
      });
      return () => {
        stop();
        cancel();
      };
    },
  };
}

function open(write: EventStreamOptions["write"], given: Partial<EventStreamOptions> = {}) {
  const clock = countingClock();
  const gone = new AbortController();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const stream = eventStream({ clock, signal: gone.signal, write, onError, ...given });
  const reader = stream.getReader();
  const next = async () => {
    const { value, done } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  const rest = async () => {
    let text = "";
    for (let piece = await next(); piece !== undefined; piece = await next()) text += piece;
    return text;
  };
  return { clock, gone, errors, reader, next, rest };
}

const forever = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
/** Lets everything that is settled be told. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("an event stream", () => {
  test("is written as the standard has it, and ends with its writer", async () => {
    const { rest, clock } = open(async (events) => {
      await events.event({ name: "pending", id: "1000", data: '{"a":1}' });
      await events.comment("nothing new");
      await events.event({ name: "completed", data: "{}" });
    });
    expect(await rest()).toBe(
      `${RETRY}id: 1000\nevent: pending\ndata: {"a":1}\n\n: nothing new\n\nevent: completed\ndata: {}\n\n`,
    );
    expect(clock.timers()).toBe(0);
  });

  test("takes data in pieces, with no sign of life between them", async () => {
    const half = Promise.withResolvers<void>();
    const { next, clock } = open(async (events, signal) => {
      const pieces = async function* () {
        yield "first";
        await half.promise;
        yield " second";
      };
      await events.event({ name: "image", data: pieces() });
      await forever(signal);
    });
    expect([await next(), await next(), await next()]).toEqual([RETRY, "event: image\ndata: ", "first"]);
    const last = next();
    await settle();
    clock.advance(15_000);
    half.resolve();
    expect([await last, await next()]).toEqual([" second", "\n\n"]);
  });

  test("gives a sign of life every 15 seconds while there is nothing to say", async () => {
    const { next, clock } = open((_, signal) => forever(signal));
    expect(await next()).toBe(RETRY);
    for (let i = 0; i < 3; i++) {
      const sign = next();
      await settle();
      clock.advance(14_999);
      await settle();
      expect(Bun.peek.status(sign)).toBe("pending");
      clock.advance(1);
      expect(await sign).toBe(": keep-alive\n\n");
    }
  });

  test("has comments alone, and no empty line but behind events, where it is an answer", async () => {
    const { next, clock } = open(
      async (events, signal) => {
        await events.event({ name: "made", data: "1" });
        await forever(signal);
      },
      { form: "answer" },
    );
    expect([await next(), await next()]).toEqual([": keep-alive\n", "event: made\ndata: 1\n\n"]);
    const sign = next();
    await settle();
    clock.advance(15_000);
    expect(await sign).toBe(": keep-alive\n");
  });

  test("has empty lines in place of all but data, where its clients take nothing else", async () => {
    const [more, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let refusal: AppError | undefined;
    const standing = { path: "/gemini/v1beta", refusal: () => refusal, onRefused: () => () => {} };
    const { next, clock } = open(
      async (events) => {
        await more.promise;
        await events.event({ data: "1" });
        await again.promise;
        await events.event({ data: "2" });
      },
      { form: "data", standing },
    );
    expect(await next()).toBe("\n\n");
    const sign = next();
    await settle();
    clock.advance(15_000);
    expect(await sign).toBe("\n\n");
    more.resolve();
    expect(await next()).toBe("data: 1\n\n");
    refusal = new AppError("invalid_api_key", { kind: "key_invalid" });
    again.resolve();
    expect(await next()).toMatch(/^data: \{"error":\{"code":401,.*\}\n\n$/);
    expect(await next()).toBeUndefined();
  });

  test("ends with the refusal when its client may not be told anything more: before the next event, or soon", async () => {
    for (const isWriting of [true, false]) {
      let isAllowed = true;
      const more = Promise.withResolvers<void>();
      const standings = createStandings({ clock: fakeClock(0) });
      const watched: (() => void)[] = [];
      const check = () => {
        if (isAllowed) return PRINCIPAL;
        throw new AppError("invalid_api_key", { kind: "key_invalid" });
      };
      const standing: Standing = Object.assign(standings("/v1/events", check, 0), {
        onRefused: (listener: () => void) => {
          watched.push(listener);
          return () => void watched.pop();
        },
      });
      const { next, clock } = open(
        async (events, signal) => {
          await events.event({ name: "first", data: "1" });
          await (isWriting ? more.promise : forever(signal));
          await events.event({ name: "second", data: "2" });
          await events.events("event: third\ndata: 3\n\n");
        },
        { standing },
      );
      expect([await next(), await next()]).toEqual([RETRY, "event: first\ndata: 1\n\n"]);
      const last = next();
      await settle();
      isAllowed = false;
      if (isWriting) more.resolve();
      else watched[0]?.();
      expect(await last).toMatch(/^event: error\ndata: \{"error":\{.*"invalid_api_key".*\n\n$/);
      expect(await next()).toBeUndefined();
      await settle();
      expect([clock.timers(), watched]).toEqual([0, []]);
    }
  });

  test("asks nothing of its writer before somebody reads", async () => {
    let began = 0;
    const { next, clock } = open(async () => {
      began += 1;
    });
    await settle();
    expect([began, clock.timers()]).toEqual([0, 0]);
    await next();
    await settle();
    expect(began).toBe(1);
  });

  test("stops its writer while nobody reads, and holds no signs of life for later", async () => {
    let written = 0;
    const { next, clock } = open(async (events, signal) => {
      while (!signal.aborted) {
        written += 1;
        await events.event({ name: "tick", data: String(written) });
      }
    });
    expect([await next(), await next()]).toEqual([RETRY, "event: tick\ndata: 1\n\n"]);
    for (let i = 0; i < 1_000; i++) clock.advance(15_000);
    await settle();
    expect(written).toBe(2);
    expect([await next(), await next()]).toEqual(["event: tick\ndata: 2\n\n", "event: tick\ndata: 3\n\n"]);
  });

  test("ends for its reader when the signal aborts, whatever its writer waits for", async () => {
    const ended = Promise.withResolvers<void>();
    const { next, gone, clock } = open(async (events, signal) => {
      await forever(signal);
      await events.event({ name: "late", data: "" });
      ended.resolve();
    });
    expect(await next()).toBe(RETRY);
    const last = next();
    await settle();
    gone.abort();
    expect(await last).toBeUndefined();
    await ended.promise;
    expect(clock.timers()).toBe(0);
  });

  test("that is aborted before anybody reads is empty", async () => {
    const { rest } = open((_, signal) => forever(signal), { signal: AbortSignal.abort() });
    expect(await rest()).toBe("");
  });

  test("that is dropped before anybody reads still begins its writer, once, and for nobody", async () => {
    const begun: boolean[] = [];
    const { reader, clock } = open(async (events, signal) => {
      begun.push(signal.aborted);
      await events.event({ name: "late", data: "" });
    });
    await reader.cancel();
    await settle();
    expect([begun, clock.timers()]).toEqual([[true], 0]);
  });

  test("tells of a writer that fails, and ends so that the client comes back", async () => {
    const failure = new Error("no database");
    const { rest, errors, clock } = open(() => Promise.reject(failure));
    expect(await rest()).toBe(RETRY);
    expect(errors).toEqual([failure]);
    expect(clock.timers()).toBe(0);
  });
});

test("of 500 streams that are dropped nothing is left", async () => {
  const clock = countingClock();
  let writing = 0;
  const write = async (events: EventWriter, signal: AbortSignal) => {
    writing += 1;
    while (!signal.aborted) await events.event({ name: "tick", data: "" });
    writing -= 1;
  };
  const streams = Array.from({ length: 500 }, () => open(write, { clock }));
  for (const { next } of streams) await next();
  await settle();
  expect([clock.timers(), writing]).toEqual([500, 500]);
  for (const { reader } of streams) await reader.cancel();
  await settle();
  expect([clock.timers(), writing]).toEqual([0, 0]);
});
