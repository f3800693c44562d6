import { afterAll, beforeEach, expect, test } from "bun:test";
import type { ProviderAdapter, ProviderError } from "../../../src/domain/ports/provider.ts";
import { FormFileError, readForm } from "../../../src/providers/declared/read-form.ts";
import {
  REHEARSED_SECRET,
  rehearsedProvider,
  requestOf,
} from "../../../src/providers/declared/rehearsal/example.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Arrived, type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

const upstream = await startUpstream(() => ({ json: {} }));
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.arrived.length = 0;
});

const OAUTH = `{ oauth: { token_url: /token, client_id: "\${id}", client_secret: "\${secret}" }, env: { id: A_ID, secret: A_SECRET } }`;
const TOKEN = `{ token: { post: /token, value: "\${body.token}" }, key_env: A_KEY }`;

/** A provider whose upstream answers the call for a token, and then all others, as given. */
function provided(auth: string, answer: (call: Arrived) => Scripted, clock = fakeClock()): ProviderAdapter {
  upstream.answer = answer;
  const text = `provider: keys
form: 1
base: https://api.keys.example
auth: ${auth}
test: { get: /me }
refusals: { when: [{ code: no_entry, means: refused }, { code: no_money, means: spent }] }
prepare: [{ roles: [image], post: /files, multipart: { file: "\${file}" }, gives: { id: "\${body.id}" } }]
submit: { post: /jobs, json: { image: '\${input("image").?id}' }, operation: { id: "\${body.id}" } }
poll: { get: "/jobs/\${operation.id}", status: "\${body.s}", words: { done: succeeded }, outputs: { url: "\${body.url}" } }
`;
  return rehearsedProvider(readForm("keys.yaml", text), upstream.origin, clock);
}

const request = (inputs: readonly string[] = []) =>
  requestOf(
    {
      ...{ name: "", answers: [], ends: "pending" },
      request: { model: "m", kind: "image", mode: "x", prompt: "A fox", inputs },
    },
    "keys",
  );
const { signal } = new AbortController();
const usual = ({ path }: Arrived): Scripted =>
  path.endsWith("/token")
    ? { json: { access_token: "token-0123456789", token: "token-0123456789" } }
    : { json: { id: "1", s: "busy" } };
/** How the paths that arrived were paid for: each with its credentials. */
const sent = () => upstream.arrived.map(({ path, headers }) => `${path} ${headers.get("authorization")}`);

test("a form whose upstream wants no key sends none", async () => {
  for (const auth of ["{ none: true }", "[{ none: true }]"]) {
    upstream.arrived.length = 0;
    await provided(auth, usual).submit(request(), signal);
    expect(sent()).toEqual(["/jobs null"]);
  }
});

test("a key that may be missing is sent where there is one", async () => {
  const auth = `{ none: true, header: Authorization, value: "Bearer \${key}", key_env: A_KEY }`;
  await provided(auth, usual).submit(request(), signal);
  expect(sent()).toEqual([`/jobs Bearer ${REHEARSED_SECRET}`]);
});

test.each([
  [
    "token_url: http://tokens.example/token",
    "4:29 auth.oauth.token_url must begin with https://, because secrets are sent there",
  ],
  ["token_url: tokens.example", "4:29 auth.oauth.token_url must be an address, or a path below base"],
  ['token_url: "/token/${nope}"', '4:39 auth.oauth.token_url reads "nope", which is not known here'],
  ['token_url: /token, scope: "${nope}"', '4:47 auth.oauth.scope reads "nope", which is not known here'],
])("an error of %s is told where it stands", (oauth, told) => {
  const text = `provider: keys
form: 1
base: https://api.keys.example
auth: { oauth: { ${oauth} }, env: { id: A_ID } }
submit: { post: /jobs, outputs: { url: "\${body.url}" } }
`;
  try {
    readForm("keys.yaml", text);
  } catch (error) {
    if (!(error instanceof FormFileError)) throw error;
    const lines = error.findings.map(({ line, column, message }) => `${line}:${column} ${message}`);
    expect(lines.map((line) => line.slice(0, told.length))).toEqual([told]);
    return;
  }
  throw new Error("It is not refused.");
});

const REFUSALS: readonly (readonly [string, Scripted, string, object])[] = [
  [
    "a refused client",
    { status: 401, json: { error: "invalid_client" } },
    "refused",
    { disposition: "reroute", code: "NO_ROUTE_AVAILABLE", details: { refused: "key" } },
  ],
  [
    "a wrong request for a token, which is the key's fault and not the caller's",
    { status: 400, json: { error: "invalid_grant" } },
    "refused",
    { disposition: "reroute", code: "NO_ROUTE_AVAILABLE", details: { refused: "key" } },
  ],
  [
    "an account without money",
    { status: 403, json: { error: { code: "no_money", message: "Pay." } } },
    "spent",
    { disposition: "reroute", code: "NO_ROUTE_AVAILABLE", details: { refused: "spent" } },
  ],
  [
    "a refusal that HTTP calls a success",
    { json: { error: { code: "no_entry", message: "No." } } },
    "refused",
    { disposition: "reroute", code: "NO_ROUTE_AVAILABLE", details: { refused: "key" } },
  ],
  [
    "too many requests",
    { status: 429, headers: { "retry-after": "7" }, json: { error: "slow_down" } },
    "failed",
    { disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED", details: { retryAfterMs: 7_000 } },
  ],
  [
    "a refusal that leaves open what happened",
    { status: 504, json: {} },
    "failed",
    { disposition: "retry", code: "UPSTREAM_TIMEOUT", details: { refused: undefined } },
  ],
];

test.each(REFUSALS)(
  "%s to a call for a token is what becomes of the submission",
  async (_, answer, tested, error) => {
    for (const auth of [OAUTH, TOKEN])
      for (const inputs of [[], ["image"]]) {
        const provider = provided(auth, (call) => (call.path.endsWith("/token") ? answer : usual(call)));
        expect(await rejection(provider.submit(request(inputs), signal))).toMatchObject({
          ...error,
          message: expect.stringContaining("no token: keys answered"),
        });
        expect(await provider.test?.(signal)).toMatchObject({ kind: tested });
        expect(upstream.arrived.every(({ path }) => path.endsWith("/token"))).toBe(true);
      }
  },
);

test.each(REFUSALS)("%s to a call for a token says nothing of a job", async (_, answer, tested) => {
  const provider = provided(TOKEN, usual);
  const submitted = await provider.submit(request(), signal);
  if (submitted.kind !== "operation") throw new Error("It is no job.");
  const other = provided(TOKEN, () => answer);
  const error = await rejection(other.poll?.(submitted.operation, signal) ?? Promise.resolve());
  const refused = { refused: "key", spent: "spent" }[tested];
  expect(error).toMatchObject({ disposition: "retry", code: "UPSTREAM_ERROR", details: { refused } });
});

test("whoever stops waiting for a token stops no other wait", async () => {
  const asked = Promise.withResolvers<Parameters<Extract<Scripted, (...given: never) => void>>[0]>();
  const provider = provided(TOKEN, (call) => (call.path.endsWith("/token") ? asked.resolve : usual(call)));
  const cancelled = new AbortController();
  const first = rejection(provider.submit(request(), cancelled.signal));
  const second = provider.submit(request(), signal);
  const socket = await asked.promise;
  const reason = new Error("The task is cancelled.");
  cancelled.abort(reason);
  expect(await first).toBe(reason);
  const body = '{"token":"token-0123456789"}';
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await second).toMatchObject({ kind: "operation" });
  expect(sent()).toEqual(["/token null", "/jobs Bearer token-0123456789"]);
});

test("a call for a token that nobody waits for any more is ended, and the next one is another", async () => {
  const closed = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const provider = provided(TOKEN, () => (socket) => {
    socket.on("close", () => closed.resolve());
    asked.resolve();
  });
  const only = new AbortController();
  const submitting = rejection(provider.submit(request(), only.signal));
  await asked.promise;
  only.abort(new Error("stop"));
  await submitting;
  await closed.promise;
  upstream.answer = usual;
  expect(await provider.submit(request(), signal)).toMatchObject({ kind: "operation" });
});

test("a token has a time limit of its own", async () => {
  const clock = fakeClock();
  const asked = Promise.withResolvers<void>();
  upstream.answer = () => () => asked.resolve();
  const form = readForm(
    "slow.yaml",
    `provider: slow
form: 1
base: https://api.slow.example
auth: ${TOKEN}
submit: { post: /jobs, outputs: { url: "\${body.url}" } }
`,
  );
  const submitting = rejection(rehearsedProvider(form, upstream.origin, clock).submit(request(), signal));
  await asked.promise;
  // To connect, and for the answer.
  clock.advance(15_000 + 30_000);
  const error = (await submitting) as ProviderError;
  expect(error).toMatchObject({ disposition: "retry", code: "UPSTREAM_TIMEOUT" });
  expect(error.message).toBe("no token: slow: no answer in time");
});

test("a late refusal of an earlier token leaves the new one in use, with which the request is sent again", async () => {
  let minted = 0;
  const held: ((answer: string) => void)[] = [];
  const provider = provided(TOKEN, (call) => {
    if (call.path === "/token") return { json: { token: `token-${++minted}-0123456789` } };
    if (held.length < 2)
      return (socket) =>
        void held.push((status) => socket.end(`HTTP/1.1 ${status} x\r\ncontent-length: 2\r\n\r\n{}`));
    return usual(call);
  });
  const both = [1, 2].map(() => provider.submit(request(), signal).catch((error: unknown) => error));
  await upstream.until(3);
  held[0]?.("401");
  expect(await Promise.race(both)).toMatchObject({ disposition: "reroute", details: { refused: "key" } });
  await provider.submit(request(), signal);
  held[1]?.("401");
  const ends = await Promise.all(both);
  expect(ends.filter((each) => !(each instanceof Error))).toMatchObject([{ kind: "operation" }]);
  await provider.submit(request(), signal);
  expect(sent().filter((each) => each.startsWith("/token"))).toHaveLength(2);
  expect(sent().at(-1)).toBe("/jobs Bearer token-2-0123456789");
});

test.each(["token-2-0123456789", "no other one"])(
  "a call whose token was used for a while and is refused is sent once more, with a new one: %s is accepted",
  async (accepted) => {
    const clock = fakeClock();
    let minted = 0;
    let isRevoked = false;
    const provider = provided(
      TOKEN,
      ({ path, headers }) => {
        if (path === "/token") return { json: { token: `token-${++minted}-0123456789` } };
        const isRefused = isRevoked && headers.get("authorization") !== `Bearer ${accepted}`;
        return isRefused ? { status: 401, json: {} } : { json: { id: "1" } };
      },
      clock,
    );
    await provider.submit(request(), signal);
    isRevoked = true;
    clock.advance(60_000);
    upstream.arrived.length = 0;
    const end = await provider.submit(request(), signal).catch((error: unknown) => error);
    expect(sent()).toEqual([
      "/jobs Bearer token-1-0123456789",
      "/token null",
      "/jobs Bearer token-2-0123456789",
    ]);
    const isAccepted = accepted.startsWith("token");
    expect(end).toMatchObject(isAccepted ? { kind: "operation" } : { details: { refused: "key" } });
  },
);
