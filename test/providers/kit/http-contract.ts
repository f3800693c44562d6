import { afterEach, describe, expect, test } from "bun:test";
import { TASK_ERROR_CODES } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import {
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
} from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import {
  MISBEHAVIOURS,
  pour,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";

/** In every request's credentials, and to be found nowhere else. */
export const KEY = "sk-live-id1234567890:Zz9secretZz9secretZz9secret";

/** One adapter of an HTTP API, as its tests need to know it. */
export interface HttpAdapter {
  create(to: { baseUrl: string; clock: Clock }): ProviderAdapter;
  request(): SubmitRequest;
  /** What the upstream answers to a submission it takes; absent where outputs come in the answer itself. */
  accepted?(origin: string): Scripted;
  /** How it tells the state of a job; `{status}` unless given. */
  state?(word: string): Json;
  /** Its own form of an error. */
  error(word: string, message: string): Json;
  /** The header that the key is in; `authorization` unless given. */
  readonly keyHeader?: string;
  /** How the key is written there, at the end; as it is unless given. */
  readonly keyText?: string;
  /** Longer than any phase of a submission may take. */
  readonly patienceMs: number;
}

const signal = new AbortController().signal;

/**
 * What every adapter that talks HTTP keeps to, whatever its upstream does: nothing is sent twice, nothing that may have been
 * taken counts as refused, and the key shows nowhere.
 */
export function describeHttpAdapter(name: string, adapter: HttpAdapter): void {
  describe(`HTTP adapter ${name}`, () => {
    const started: ScriptedUpstream[] = [];
    afterEach(() => {
      for (const upstream of started.splice(0)) upstream.stop();
    });
    const setup = async (answer: (upstream: ScriptedUpstream) => Scripted) => {
      const upstream = await startUpstream(() => answer(upstream));
      started.push(upstream);
      const clock = fakeClock();
      return { upstream, clock, provider: adapter.create({ baseUrl: upstream.origin, clock }) };
    };
    const submitted = async (answer: Scripted) => {
      const { provider, upstream } = await setup(() => answer);
      return { error: await rejection(provider.submit(adapter.request(), signal)), upstream };
    };

    test.each(Object.keys(MISBEHAVIOURS) as (keyof typeof MISBEHAVIOURS)[])(
      "a submission may have been taken when the upstream %s, and is not sent again",
      async (how) => {
        const { provider, upstream, clock } = await setup(() => MISBEHAVIOURS[how]);
        const failing = rejection(provider.submit(adapter.request(), signal));
        await upstream.until(1);
        const isLate = how.startsWith("hangs");
        if (isLate) clock.advance(adapter.patienceMs);
        const error = await failing;
        expect(error).toBeInstanceOf(ProviderError);
        const code = isLate ? "UPSTREAM_TIMEOUT" : "UPSTREAM_ERROR";
        expect(error).toMatchObject({ disposition: "unknown", code });
        expect(upstream.arrived).toHaveLength(1);
      },
    );

    test.each([
      [undefined, "1"],
      [1, "2"],
      [3, "4"],
    ])(
      "a submission of a request that came through %p instances says that it came through %s",
      async (hops, told) => {
        const { provider, upstream } = await setup(() => ({ status: 503, json: {} }));
        const request = adapter.request();
        await rejection(provider.submit({ ...request, request: { ...request.request, hops } }, signal));
        expect(upstream.arrived[0]?.headers.get("x-svc-hops")).toBe(told);
      },
    );

    test("a submission that never left may be tried again", async () => {
      const { provider, upstream } = await setup(() => ({ json: {} }));
      upstream.stop();
      const error = await rejection(provider.submit(adapter.request(), signal));
      expect(error).toMatchObject({ disposition: "retry" });
    });

    test("a name that does not resolve leaves nothing sent", async () => {
      const provider = adapter.create({ baseUrl: "http://upstream.invalid", clock: fakeClock() });
      expect(await rejection(provider.submit(adapter.request(), signal))).toMatchObject({
        disposition: "retry",
      });
    });

    test.each([
      [{ status: 200, body: "<html>It works!</html>" }, "unusable"],
      [{ status: 200, json: ["neither", "nor"] }, "unusable"],
      [{ status: 500, body: "oops" }, "unknown"],
      [{ status: 502, body: "Bad Gateway" }, "unknown"],
      [{ status: 504, body: "Gateway Timeout" }, "unknown"],
      [{ status: 409, body: "" }, "unknown"],
      [{ status: 503, body: "" }, "retry"],
      [{ status: 429, body: "" }, "retry"],
      [{ status: 401, body: "" }, "reroute"],
      [{ status: 402, body: "" }, "reroute"],
      [{ status: 403, body: "" }, "reroute"],
      [{ status: 404, body: "" }, "reroute"],
      [{ status: 413, body: "" }, "fail"],
      [{ status: 422, body: "" }, "fail"],
    ] as const)(
      "an answer without the upstream's own words is judged by its status: %#",
      async (answer, disposition) => {
        const { error } = await submitted(answer);
        expect(error).toBeInstanceOf(ProviderError);
        expect(error).toMatchObject({ disposition });
      },
    );

    test.each([
      [{ "retry-after": "7" }, 7_000],
      [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
      [{ "retry-after": "Wed, 21 Oct 2026 07:28:09 GMT", date: "Wed, 21 Oct 2026 07:28:00 GMT" }, 9_000],
      [{ "retry-after": "86400" }, 600_000],
      [{ "retry-after": "soon" }, undefined],
    ] as [Record<string, string>, number | undefined][])(
      "busy says when to come again: %j",
      async (headers, ms) => {
        const { error } = await submitted({ status: 429, headers, json: adapter.error("x", "Slow down.") });
        expect(error).toMatchObject({ disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED" });
        expect((error as ProviderError).details.retryAfterMs).toBe(ms);
      },
    );

    test("trouble with our own account is no fault of the caller, and no moderation", async () => {
      for (const status of [401, 402, 403]) {
        const { error } = await submitted({ status, json: adapter.error("x", "Ask your administrator.") });
        expect(error).toMatchObject({ disposition: "reroute" });
        expect((error as ProviderError).code).not.toBe("CONTENT_MODERATED");
        expect((error as ProviderError).publicMessage).not.toContain("administrator");
      }
    });

    test("an answer over the limit is an error, and is not read to its end", async () => {
      const { error } = await submitted(pour);
      expect(error).toMatchObject({ disposition: "unusable" });
    });

    test("an answer that says how long it is, and is too long, is not read at all", async () => {
      const { error } = await submitted((socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
      });
      expect(error).toMatchObject({ disposition: "unknown" });
    });

    test("a redirect is not followed, and takes the key nowhere", async () => {
      const elsewhere = await startUpstream(() => ({ json: {} }));
      started.push(elsewhere);
      for (const status of [301, 302, 303, 307, 308]) {
        const headers = { location: `${elsewhere.origin}/v1/images/generations` };
        const { error } = await submitted({ status, headers, body: "" });
        // 303 is the answer to what was done.
        expect(error).toMatchObject({ disposition: status === 303 ? "unknown" : "reroute" });
      }
      expect(elsewhere.arrived).toEqual([]);
    });

    test("a packed answer that is no answer, or larger than any, comes to what any such answer comes to", async () => {
      const bomb = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024));
      const headers = { "content-encoding": "gzip" };
      for (const body of [bomb, Bun.gzipSync("{}")]) {
        const { error } = await submitted({ headers, body });
        expect(["unusable", "unknown"]).toContain((error as ProviderError).disposition);
      }
    });

    test("an abort ends a submission under way, with its own reason", async () => {
      const { provider, upstream } = await setup(() => MISBEHAVIOURS["hangs before the head"]);
      const worker = new AbortController();
      const failing = rejection(provider.submit(adapter.request(), worker.signal));
      await upstream.until(1);
      const reason = new Error("The worker stops.");
      worker.abort(reason);
      expect(await failing).toBe(reason);
    });

    test("an abort ends the reading of an answer, with its own reason", async () => {
      const { provider, upstream } = await setup(() => MISBEHAVIOURS["hangs in the body"]);
      const worker = new AbortController();
      const failing = rejection(provider.submit(adapter.request(), worker.signal));
      await upstream.until(1);
      const reason = new Error("The worker stops.");
      worker.abort(reason);
      expect(await failing).toBe(reason);
    });

    test("the key is in every request, and in no error, however an upstream repeats it", async () => {
      const secret = KEY.slice(KEY.indexOf(":") + 1);
      for (const status of [200, 400, 401, 403, 404, 422, 429, 500, 503]) {
        for (const echo of [
          KEY,
          secret,
          KEY.slice(0, 20),
          `${KEY.slice(0, 6)}…${KEY.slice(-10)}`,
          encodeURI(KEY),
        ]) {
          const headers = { "x-request-id": echo, "x-fal-request-id": echo };
          const { error, upstream } = await submitted({
            status,
            headers,
            json: adapter.error(echo, `Incorrect API key provided: ${echo}. Bearer ${echo}`),
          });
          expect(upstream.arrived[0]?.headers.get(adapter.keyHeader ?? "authorization")).toEndWith(
            adapter.keyText ?? KEY,
          );
          for (const text of textsOf(error)) {
            for (const piece of [KEY, secret, secret.slice(0, 8), secret.slice(-8)])
              expect(text).not.toContain(piece);
          }
        }
      }
    });

    test("messages for callers hold no addresses, identifiers or words on accounts of ours", async () => {
      for (const said of [
        "See https://upstream.example/errors.",
        "Mail support@upstream.example",
        "Request req_abc123def failed for org-Xy12Ab34",
        "You exceeded your current quota, check your billing details.",
        "<b>markup</b>",
        "/srv/models/runner.py line 7",
        "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 is bad",
      ]) {
        const { error } = await submitted({ status: 422, json: adapter.error("some_validation_word", said) });
        expect(error).toMatchObject({ disposition: "fail", code: "UPSTREAM_REJECTED" });
        expect((error as ProviderError).publicMessage).toBe("The provider refused this request.");
      }
    });

    test("a word on what is wrong with the input reaches its sender, cut", async () => {
      const said = `Prompt is too long. ${"Say less. ".repeat(40)}`;
      const { error } = await submitted({ status: 422, json: adapter.error("some_validation_word", said) });
      const { publicMessage } = error as ProviderError;
      expect(publicMessage).toStartWith("The provider refused this request: ");
      expect(publicMessage).toContain("Prompt is too long.");
      expect(publicMessage.length).toBeLessThan(220);
    });

    test("every code an upstream's refusal comes to is one a task can fail with", async () => {
      for (const status of [400, 401, 402, 403, 404, 422, 429, 500, 503]) {
        const { error } = await submitted({ status, json: adapter.error("word", "text") });
        expect(TASK_ERROR_CODES).toContain((error as ProviderError).code);
      }
    });

    const { accepted } = adapter;
    if (accepted === undefined) return;

    const taken = async (answers: (upstream: ScriptedUpstream) => Scripted) => {
      let isAccepted = false;
      const { provider, upstream, clock } = await setup((server) => {
        if (isAccepted) return answers(server);
        isAccepted = true;
        return accepted(server.origin);
      });
      const operation = operationOf(await provider.submit(adapter.request(), signal));
      const poll = () =>
        provider.poll?.(operation, signal) ?? Promise.reject(new Error("It cannot be polled."));
      return { upstream, clock, poll };
    };

    test.each([
      { status: 429, headers: { "retry-after": "3" }, body: "" },
      { status: 500, body: "oops" },
      { status: 502, body: "" },
      { status: 503, body: "" },
      { status: 504, body: "" },
      { status: 401, body: "" },
      { status: 301, headers: { location: "http://127.0.0.1:1/" }, body: "" },
      { status: 404, body: "<html>" },
      { status: 200, body: "" },
      { status: 200, body: '{"status":"COMPL' },
      { status: 200, json: null },
      { status: 200, json: [] },
      { status: 200, json: {} },
      { status: 200, json: { status: 7 } },
      MISBEHAVIOURS["resets the connection"],
      MISBEHAVIOURS["ends in the middle"],
      MISBEHAVIOURS["does not speak HTTP"],
    ] as Scripted[])("trouble with asking says nothing of the job: %#", async (answer) => {
      const { poll } = await taken(() => answer);
      const error = await rejection(poll());
      expect(error).toMatchObject({ disposition: "retry" });
      if ("status" in answer && answer.status === 429) {
        expect((error as ProviderError).details.retryAfterMs).toBe(3_000);
      }
    });

    test("a question without an answer ends after a time, and can be asked again", async () => {
      const { upstream, clock, poll } = await taken(() => MISBEHAVIOURS["hangs before the head"]);
      const failing = rejection(poll());
      await upstream.until(2);
      clock.advance(adapter.patienceMs);
      expect(await failing).toMatchObject({ disposition: "retry" });
    });

    test("a status word nobody has told us of is neither success nor failure", async () => {
      const { poll } = await taken(() => ({
        json: adapter.state?.("PONDERING") ?? { status: "PONDERING" },
      }));
      expect(await poll()).toEqual({ kind: "pending" });
    });
  });
}

/** Everything of an error that could be logged or shown. */
function textsOf(error: unknown): string[] {
  const { message, stack = "", cause } = error as Error;
  const shown = error instanceof ProviderError ? error.publicMessage : "";
  return [message, stack, shown, Bun.inspect(error), Bun.inspect(cause)];
}
