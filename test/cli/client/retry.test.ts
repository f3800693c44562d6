import { describe, expect, test } from "bun:test";
import { troubleOf } from "../../../cli/client/answer.ts";
import { backoffMs, type Trouble, withRetries } from "../../../cli/client/retry.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";
import { fakeTiming } from "../support.ts";

const failure = new Failure(EXIT.overloaded, "busy", "Busy.");

/** Tries that fail as often as there are troubles, then succeed. */
async function attempt(troubles: readonly Omit<Trouble, "failure">[], signal = new AbortController().signal) {
  const timing = fakeTiming();
  let tries = 0;
  const result = await withRetries(
    async () => {
      const trouble = troubles[tries++];
      return trouble === undefined ? { ok: true, value: "done" } : { ok: false, failure, ...trouble };
    },
    { timing, signal },
  ).catch((error: unknown) => error);
  return { result, tries, slept: timing.slept };
}

const passing = { retry: "yes" } as const;

describe("a try that may be repeated", () => {
  test("is, with delays that double up to eight seconds", async () => {
    expect(await attempt([passing, passing, passing])).toEqual({
      result: "done",
      tries: 4,
      slept: [250, 500, 1000],
    });
    expect(backoffMs(20, 1)).toBe(8000);
    expect([backoffMs(1, 0), backoffMs(1, 1)]).toEqual([125, 250]);
  });

  test("is given up after six times, or three when nobody answers at all", async () => {
    expect(await attempt(Array(10).fill(passing))).toMatchObject({ result: failure, tries: 6 });
    expect(await attempt(Array(10).fill({ retry: "seldom" }))).toMatchObject({ result: failure, tries: 3 });
  });

  test("waits as long as the server asks, within a minute in all", async () => {
    expect((await attempt([{ ...passing, retryAfterMs: 7000 }])).slept).toEqual([7000]);
    expect((await attempt([{ ...passing, retryAfterMs: 0 }])).slept).toEqual([0]);
    expect(await attempt([{ ...passing, retryAfterMs: 61_000 }])).toEqual({
      result: failure,
      tries: 1,
      slept: [],
    });
    const halfMinutes = { ...passing, retryAfterMs: 30_000 };
    expect(await attempt([halfMinutes, halfMinutes, halfMinutes])).toMatchObject({
      result: failure,
      tries: 3,
    });
  });

  test("is not, when it would end the same", async () => {
    expect(await attempt([{ retry: "no" }])).toEqual({ result: failure, tries: 1, slept: [] });
  });

  test("ends with the interruption when there was one", async () => {
    const { result, tries } = await attempt([passing, passing], AbortSignal.abort());
    expect([tries, result instanceof Failure && result.exitCode]).toEqual([1, EXIT.interrupted]);
  });
});

describe("an HTTP answer", () => {
  const trouble = (status: number, headers: Record<string, string> = {}, body: unknown = {}) =>
    troubleOf(new Response("", { status, headers }), body, "http://server");

  test("is worth another try when it is about now, not about the request", () => {
    const statuses = [400, 401, 402, 403, 404, 409, 413, 429, 500, 502, 503, 504];
    expect(statuses.filter((status) => trouble(status).retry === "yes")).toEqual([429, 502, 503, 504]);
    expect(trouble(409, {}, { data: { error_code: "idempotency_in_progress" } }).retry).toBe("yes");
    expect(trouble(409, {}, { data: { error_code: "idempotency_conflict" } }).retry).toBe("no");
    expect(trouble(503, { "x-should-retry": "false" }).retry).toBe("no");
  });

  test("names its code in either envelope, the compatible one first", () => {
    const both = {
      code: 401,
      message: "outer",
      error: { code: "inner_code", message: "inner" },
      data: { error_code: "outer_code" },
    };
    expect(trouble(401, {}, both).failure).toMatchObject({ code: "inner_code", message: "inner" });
    expect(trouble(401, {}, { ...both, error: undefined }).failure).toMatchObject({
      code: "outer_code",
      message: "outer",
    });
    expect(trouble(418, {}, "<html>").failure).toMatchObject({ code: "http_418", exitCode: EXIT.rejected });
    expect(trouble(400, { "x-request-id": "req_9" }).failure.requestId).toBe("req_9");
  });

  test("says when to come back in seconds or by date", () => {
    const asked = (headers: Record<string, string>) => trouble(429, headers).retryAfterMs;
    expect(asked({})).toBeUndefined();
    expect(asked({ "retry-after": "7" })).toBe(7000);
    expect(asked({ "retry-after": "7", "retry-after-ms": "6500" })).toBe(6500);
    expect(asked({ "retry-after": "soon" })).toBeUndefined();
    expect(asked({ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(0);
  });
});
