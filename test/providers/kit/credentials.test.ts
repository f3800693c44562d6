import { afterEach, expect, test } from "bun:test";
import { ProviderError } from "../../../src/domain/ports/provider.ts";
import type { Credentials } from "../../../src/providers/kit/credentials.ts";
import { createUpstream, NoAnswer } from "../../../src/providers/kit/http.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";

const signal = new AbortController().signal;
const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const LIMITS = { connectMs: 1e12, answerMs: 1e12, bodyMs: 1e12 };
const BODY = { type: "application/json", bytes: new TextEncoder().encode('{"prompt":"A fox"}') };

async function setup(credentials: Credentials) {
  const server = await startUpstream(() => ({ json: {} }));
  started.push(server);
  const upstream = createUpstream({
    name: "Test",
    baseUrl: `${server.origin}/v1`,
    credentials,
    secrets: [],
    clock: fakeClock(),
    limits: LIMITS,
  });
  return { server, upstream };
}

test("a function of credentials sees the request as it leaves, and what it returns is added", async () => {
  const seen: unknown[] = [];
  const { server, upstream } = await setup(async ({ method, url, headers, body }) => {
    seen.push({ method, path: url.pathname, type: headers["Content-Type"], tag: headers["X-Tag"], body });
    return { headers: { Authorization: "Signature 0123456789" } };
  });
  const request = { method: "POST", url: "/jobs?a=1", headers: { "X-Tag": "t" }, body: BODY } as const;
  await upstream.send({ ...request, maxBytes: 100 }, signal);
  expect(seen).toEqual([
    { method: "POST", path: "/v1/jobs", type: "application/json", tag: "t", body: BODY },
  ]);
  const [arrived] = server.arrived;
  expect(arrived?.headers.get("authorization")).toBe("Signature 0123456789");
  expect(arrived?.headers.get("x-tag")).toBe("t");
});

test("a key in the query leaves the rest of the query as it was", async () => {
  const { server, upstream } = await setup(async () => ({ query: { key: "a b&c=d/9876" } }));
  for (const url of ["/jobs?q=a%20b+c", "/jobs"])
    await upstream.send({ method: "GET", url, maxBytes: 100 }, signal);
  expect(server.arrived.map(({ path }) => path)).toEqual([
    "/v1/jobs?q=a%20b+c&key=a%20b%26c%3Dd%2F9876",
    "/v1/jobs?key=a%20b%26c%3Dd%2F9876",
  ]);
});

test("what credentials were made of shows in no error, as it is or as an address has it", async () => {
  const { upstream } = await setup(async () => ({
    headers: { Authorization: "Bearer eyJhbGciOi.minted-token" },
    query: { key: "query/secret+0123" },
  }));
  await upstream.send({ method: "GET", url: "/", maxBytes: 100 }, signal);
  expect(upstream.scrub("the token eyJhbGciOi.minted-token has ended")).toBe("the token [secret] has ended");
  expect(upstream.scrub("at https://x.example/?key=query%2Fsecret%2B0123")).toBe(
    "at https://x.example/?key=[secret]",
  );
  expect(upstream.scrub("query/secret+0123")).toBe("[secret]");
});

test("a secret that is kept later shows in no error from then on, however many follow", async () => {
  const { upstream } = await setup({});
  upstream.keepSecret("first-of-many-tokens");
  for (let i = 0; i < 10; i++) upstream.keepSecret(`later-${i}-AAAABBBB`);
  expect(upstream.scrub("it said first-of-many-tokens")).toBe("it said [secret]");
});

test("credentials that cannot be had leave nothing sent", async () => {
  const { server, upstream } = await setup(async () => {
    throw new NoAnswer(false, "Tokens: no answer in time", true);
  });
  const error = await rejection(
    upstream.send({ method: "POST", url: "/", body: BODY, maxBytes: 100 }, signal),
  );
  expect(error).toBeInstanceOf(NoAnswer);
  const { isUnsent, isLate, message } = error as NoAnswer;
  expect({ isUnsent, isLate, message }).toEqual({
    ...{ isUnsent: true, isLate: true },
    message: "Tokens: no answer in time",
  });
  expect(server.arrived).toEqual([]);
});

test("what credentials say of their refusal stays as it is", async () => {
  const refusal = new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "Test: the token was refused");
  const { upstream } = await setup(() => Promise.reject(refusal));
  expect(await rejection(upstream.send({ method: "GET", url: "/", maxBytes: 100 }, signal))).toBe(refusal);
});

test("credentials under way end with the caller's own reason", async () => {
  const { upstream } = await setup(
    (_, aborted) =>
      new Promise((_, reject) => aborted.addEventListener("abort", () => reject(new Error("x")))),
  );
  const worker = new AbortController();
  const failing = rejection(upstream.send({ method: "GET", url: "/", maxBytes: 100 }, worker.signal));
  const reason = new Error("The worker stops.");
  worker.abort(reason);
  expect(await failing).toBe(reason);
});

test("credentials are asked for nothing that would leave the upstream's origins", async () => {
  let asked = 0;
  const { upstream } = await setup(async () => {
    asked++;
    return {};
  });
  await rejection(upstream.send({ method: "GET", url: "https://elsewhere.example/", maxBytes: 100 }, signal));
  expect(asked).toBe(0);
});
