import { describe, expect, test } from "bun:test";
import { type FollowEventsOptions, followEvents, type ServerEvent } from "../../cli/client/event-source.ts";
import { readForwardUrl } from "../../cli/client/forward.ts";
import { createInOrder } from "../../cli/client/in-order.ts";
import type { Attempt, Trouble } from "../../cli/client/retry.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { Failure } from "../../cli/failure.ts";
import { readPastTime } from "../../cli/flags/values.ts";
import { firstLine, printable, printableJson } from "../../cli/format/printable.ts";
import { fakeTiming } from "./support.ts";

const NOW = Date.parse("2026-11-21T14:00:00Z");

describe("a moment", () => {
  test.each([
    ["2h", "2026-11-21T12:00:00.000Z"],
    ["90", "2026-11-21T13:58:30.000Z"],
    ["7d", "2026-11-14T14:00:00.000Z"],
    ["2026-11-20", "2026-11-20T00:00:00.000Z"],
    ["2026-11-20T10:00:00", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20 10:00:00Z", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00.000Z"],
  ])("%s is %s", (text, expected) => {
    expect(readPastTime("--since", text, NOW)).toBe(expected);
  });

  test.each(["", "yesterday", "2026-13-01", "-2h", "2 h", "99999999999999999999d"])(
    "%p is none, and the flag is named",
    (text) => {
      expect(() => readPastTime("--since", text, NOW)).toThrow(/^--since must be/);
    },
  );
});

describe("where to forward to", () => {
  test.each([
    ["localhost:3000/hook", "http://localhost:3000/hook"],
    ["http://localhost:3000/hook?t=1#x", "http://localhost:3000/hook?t=1"],
    ["https://hooks.example", "https://hooks.example/"],
    ["[::1]:3000", "http://[::1]:3000/"],
  ])("%s is %s", (text, expected) => {
    expect(readForwardUrl(text)).toBe(expected);
  });

  test.each(["", "ftp://localhost/x", "http://", "a b"])("%p is refused", (text) => {
    expect(() => readForwardUrl(text)).toThrow(/^--forward must be/);
  });
});

describe("what others wrote", () => {
  const HOSTILE = "a\u001b[2Jb\u009b31mc\u202ed\u0007\n\te\u007f";

  test("commands no terminal, as text or as JSON", () => {
    expect(printable(HOSTILE)).toBe("a\\u001b[2Jb\\u009b31mc\\u202ed\\u0007\\u000a\\u0009e\\u007f");
    const json = printableJson({ HOSTILE }, 2);
    expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    expect(JSON.parse(json)).toEqual({ HOSTILE });
  });

  test("is cut to its first line, between characters", () => {
    expect(firstLine("\r\n  not found\nmore", 40)).toBe("not found…");
    expect(firstLine("🙂🙂🙂", 2)).toBe("🙂🙂…");
    expect(firstLine("ok\n", 2)).toBe("ok");
    expect(firstLine("", 2)).toBe("");
  });
});

test("work in order has no more than the limit under way, and hands over in the order of the begin", async () => {
  const taken: number[] = [];
  const ends = Array.from({ length: 6 }, () => Promise.withResolvers<number>());
  const begun: number[] = [];
  const inOrder = createInOrder<number>(3, (value) => taken.push(value));
  const adding = (async () => {
    for (const [index, end] of ends.entries()) {
      await inOrder.add(() => {
        begun.push(index);
        return end.promise;
      });
    }
    await inOrder.done();
  })();
  const end = async (index: number) => {
    ends[index]?.resolve(index);
    await Bun.sleep(0);
  };
  await end(2);
  await end(1);
  expect({ begun, taken }).toEqual({ begun: [0, 1, 2], taken: [] });
  await end(0);
  expect({ begun, taken }).toEqual({ begun: [0, 1, 2, 3, 4, 5], taken: [0, 1, 2] });
  for (const index of [5, 4, 3]) await end(index);
  await adding;
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
});

type Opened = Attempt<ReadableStream<Uint8Array>>;

describe("a stream of events", () => {
  const trouble = (status: number, more: Partial<Trouble> = {}): Opened => ({
    ok: false,
    failure: new Failure(EXIT.error, `http_${status}`, "No.", { more: { status } }),
    retry: "no",
    ...more,
  });
  const stream = (...chunks: string[]): Opened => ({
    ok: true,
    value: new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    }),
  });

  /** Connections one after the other; a refusal ends it all. */
  async function follow(connections: readonly Opened[], more: Partial<FollowEventsOptions> = {}) {
    const timing = fakeTiming();
    const asked: (string | undefined)[] = [];
    const events: ServerEvent[] = [];
    const left = [...connections];
    const failure = await followEvents({
      open: async (lastEventId) => {
        asked.push(lastEventId);
        return left.shift() ?? trouble(401);
      },
      timing,
      signal: new AbortController().signal,
      take: async (event) => void events.push(event),
      ...more,
    }).catch((error: unknown) => error);
    return { failure, asked, events, slept: timing.slept };
  }

  test("is read whatever its pieces are, and goes on after the last event taken", async () => {
    const { asked, events, failure } = await follow([
      stream(
        "retry: 3000\n\n: from 7\nid: 7\n\nid: 8\nevent: call",
        'back\ndata: {"a"',
        ":1}\n\nevent: x\ndata: 2\n\n",
      ),
      stream("id: 9\ndata: cut"),
      stream("id: 9\r\ndata: a\r\ndata: b\r\n\r\n"),
    ]);
    expect(events).toEqual([
      { name: "callback", id: "8", data: '{"a":1}' },
      { name: "x", id: undefined, data: "2" },
      { name: "message", id: "9", data: "a\nb" },
    ]);
    expect(asked).toEqual([undefined, "8", "8", "9"]);
    expect(failure).toMatchObject({ code: "http_401" });
  });

  test("that had no event yet goes on where the server said it begins", async () => {
    expect((await follow([stream(": from 7\nid: 7\n\n"), stream(": keep-alive\n\n")])).asked).toEqual([
      undefined,
      "7",
      "7",
    ]);
    const numbered = await follow([stream(": from 7\n\n")], { lastEventId: "99" });
    expect(numbered.asked).toEqual(["99", "7"]);
  });

  test("comes back after half a second to ten, ever later while nothing comes of it", async () => {
    const down = trouble(503, { retry: "yes" });
    const { slept, failure } = await follow([
      stream("data: 1\n\n"),
      ...Array<Opened>(7).fill(down),
      stream(": hi\n\n"),
    ]);
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000, 1_000]);
    expect(failure).toMatchObject({ code: "http_401" });
  });

  test("comes back no sooner than the server asks, and not a minute later", async () => {
    const busy = (retryAfterMs: number) => trouble(429, { retry: "yes", retryAfterMs });
    const { slept } = await follow([stream(": hi\n\n"), busy(7_000), busy(3_600_000), stream(": hi\n\n")]);
    expect(slept).toEqual([1_000, 7_000, 60_000, 1_000]);
  });

  test.each([401, 403, 404, 400])("ends when the server refuses with %i", async (status) => {
    const { failure, slept } = await follow([stream(": hi\n\n"), trouble(status), stream(": hi\n\n")]);
    expect(failure).toMatchObject({ code: `http_${status}` });
    expect(slept).toHaveLength(1);
  });

  test("does not end for an error of the server's own", async () => {
    const { events } = await follow([stream(": hi\n\n"), trouble(500), stream("data: 1\n\n")]);
    expect(events).toHaveLength(1);
  });

  test("that falls silent is left and opened again", async () => {
    let cancelled = 0;
    const signals: AbortSignal[] = [];
    const silent = (signal: AbortSignal): Opened => ({
      ok: true,
      value: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(": hi\n\n"));
          signal.addEventListener("abort", () => {
            cancelled += 1;
            controller.error(signal.reason);
          });
        },
      }),
    });
    const { failure } = await follow([], {
      silenceMs: 5,
      open: async (_id, signal) => {
        signals.push(signal);
        return signals.length < 3 ? silent(signal) : trouble(401);
      },
    });
    expect([cancelled, failure]).toEqual([2, expect.objectContaining({ code: "http_401" })]);
  });

  test("with an event beyond all bounds ends", async () => {
    const { failure } = await follow([stream(`data: ${"x".repeat(5_000_000)}`)]);
    expect(failure).toMatchObject({ code: "unexpected_answer" });
  });

  test("reads no further than its taker has taken", async () => {
    const reads: number[] = [];
    const taken = Promise.withResolvers<void>();
    const value = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          reads.push(reads.length);
          if (reads.length > 50) controller.close();
          else controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
        },
      },
      { highWaterMark: 0 },
    );
    const following = follow([{ ok: true, value }], { take: () => taken.promise });
    await Bun.sleep(5);
    expect(reads).toHaveLength(1);
    taken.resolve();
    await following;
    expect(reads).toHaveLength(51);
  });
});
