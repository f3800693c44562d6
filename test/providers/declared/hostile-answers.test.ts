import { afterAll, expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import { createDeclaredProvider } from "../../../src/providers/declared/adapter.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fetchAll } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Arrived, pour, type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

/** Kept by its owner alone. */
const KEY = "canary-key-8f3a61c2d9";
const SECRET = "canary-secret-27b5e0417c";
const TOKEN = "canary-token-94d2f7a81e";

const FORM = `provider: canary
form: 1
base: https://api.named.example
media: [own-with-key, cdn.named.example]
auth:
  token:
    post: /token
    json: { id: "\${id}", secret: "\${secret}" }
    value: \${body.token}
  env: { id: CANARY_ID, secret: CANARY_SECRET }
limits: { answer_mb: 1 }
prepare:
  - { roles: [image], post: /files, multipart: { file: "\${file}" }, gives: { id: "\${body.id}" } }
submit:
  post: /jobs
  json: { text: "\${prompt}", image: '\${input("image").?id}' }
  operation: { id: "\${body.id}", url: "\${headers.?location.orValue(body.?url.orValue(\\"/jobs/1\\"))}" }
poll:
  get: \${operation.url}
  status: \${body.status}
  words: { done: succeeded, busy: pending, bad: { failed: moderated } }
  message: \${body.?why}
  outputs: { each: "\${body.files}", url: "\${item.?url}", base64: "\${item.?data}" }
result:
  get: \${operation.url}/result
  outputs: { each: "\${body.files}", url: "\${item.?url}", base64: "\${item.?data}" }
cancel: { delete: "\${operation.url}" }
recover: { get: "/found", found: { id: "\${body.id}", url: "\${body.url}" }, absent_when: { status: 404 } }
`;

const elsewhere = await startUpstream(() => ({ json: { id: "1", status: "done", files: [] } }));
afterAll(() => elsewhere.stop());
const EVIL = elsewhere.origin;

/** How the upstream answers, by what is asked; `undefined`: as it should. */
type Answers = (call: Arrived, own: string) => Scripted | undefined;

function usual({ method, path, body }: Arrived, own: string): Scripted {
  if (path === "/token") return { json: { token: TOKEN } };
  if (path === "/files") return { json: { id: "file-1" } };
  if (method === "POST") return { json: { id: "1", echo: body.toString() } };
  if (path === "/found") return { json: { id: "1", url: "/jobs/1" } };
  if (path.startsWith("/made")) return { body: "made" };
  return { json: { status: "done", files: [{ url: `${own}/made/1` }] } };
}

/** A whole life of a task: submitted, recovered, asked after, fetched, cancelled. Tells what each step came to. */
async function life(answers: Answers, edit: readonly [string, string] = ["", ""]) {
  const upstream = await startUpstream(
    (call) => answers(call, upstream.origin) ?? usual(call, upstream.origin),
  );
  const text = FORM.replace(edit[0], () => edit[1]);
  const form = readForm("canary.yaml", text);
  const provider = createDeclaredProvider({
    ...{ id: "canary" as ProviderId, form: loadForm(form, "hash", text), clock: fakeClock() },
    account: {
      ...{ name: "default", lane: "canary" as LaneId, baseUrl: upstream.origin },
      secrets: { id: createSecret(KEY), secret: createSecret(SECRET) },
    },
  });
  const example = {
    model: "m",
    kind: "image",
    mode: "image-to-image",
    prompt: "A fox",
    inputs: ["image"],
  } as const;
  const request = requestOf({ name: "", request: example, answers: [], ends: "pending" }, "canary");
  const { signal } = new AbortController();
  const told: unknown[] = [];
  const step = async <T>(work: Promise<T> | undefined): Promise<T | undefined> => {
    try {
      const given = await work;
      told.push(given ?? "nothing");
      return given;
    } catch (error) {
      told.push(error);
      return undefined;
    }
  };
  try {
    const submitted = await step(provider.submit(request, signal));
    const recovered = await step(provider.recover?.(request, signal));
    const found = recovered?.kind === "found" ? recovered.operation : undefined;
    const operation: Json | undefined = submitted?.kind === "operation" ? submitted.operation : found;
    if (operation !== undefined) {
      const end = await step(provider.poll?.(operation, signal));
      for (const output of end?.kind === "succeeded" ? end.outputs : [])
        if (output.kind === "remote")
          await step(fetchAll(provider, output.ref).then((bytes) => bytes.length));
      await step(provider.cancel?.(operation, signal));
    }
  } finally {
    upstream.stop();
  }
  const texts = told.map((each) => (each instanceof Error ? everything(each) : JSON.stringify(each)));
  return { said: told.map(kindOf), texts, arrived: upstream.arrived };
}

/** All that an error holds, also in its causes. */
function everything(error: Error): string {
  const own = [error.message, error.stack, JSON.stringify({ ...error })];
  return [...own, error.cause instanceof Error ? everything(error.cause) : String(error.cause)].join("\n");
}

function kindOf(given: unknown): string {
  if (given instanceof Error) return `${given.name}: ${given.message}`;
  return typeof given === "object" && given !== null && "kind" in given ? String(given.kind) : String(given);
}

/** Pieces of the secrets that are long enough to tell, as they are and in base64. */
const PIECES = [KEY, SECRET, TOKEN].flatMap((secret) =>
  [secret, btoa(secret)].flatMap((text) =>
    Array.from({ length: text.length - 7 }, (_, i) => text.slice(i, i + 8)),
  ),
);

function leaks(texts: readonly string[]): string[] {
  return PIECES.filter((piece) => !piece.startsWith("canary-") && texts.some((text) => text.includes(piece)));
}

const at =
  (path: string, answer: (own: string) => Scripted, method?: string): Answers =>
  (call, own) =>
    call.path === path && (method ?? call.method) === call.method ? answer(own) : undefined;
const redirect = (path: string, method?: string) =>
  at(path, () => ({ status: 307, headers: { location: `${EVIL}/x` }, body: "" }), method);
const job = (url: string): Answers => at("/jobs", () => ({ json: { id: "1", url } }));
const made = (url: string): Answers => at("/jobs/1/result", () => ({ json: { files: [{ url }] } }));
const body = (text: string | Uint8Array, headers: Record<string, string> = {}): Answers =>
  at("/jobs/1", () => ({ headers: { "content-type": "application/json", ...headers }, body: text }), "GET");
const host = EVIL.slice("http://".length);

/** What an answer names or is, and the step at which the task stops for it, with a part of what is said. */
const HOSTILE: readonly (readonly [name: string, answers: Answers, step: number, said: string])[] = [
  ["a token's redirect", redirect("/token"), 0, "no token"],
  ["an upload's redirect", redirect("/files"), 0, "answered 307"],
  ["a submission's redirect", redirect("/jobs"), 0, "answered 307"],
  ["a recovery's redirect", redirect("/found"), 1, "answered 307"],
  ["a question's redirect", redirect("/jobs/1", "GET"), 2, "answered 307"],
  ["a result's redirect", redirect("/jobs/1/result"), 2, "answered 307"],
  ["a file's redirect", redirect("/made/1"), 3, "a redirect of an output is at a host"],
  ["a cancellation's redirect", redirect("/jobs/1", "DELETE"), 4, "nothing"],
  ["a job elsewhere", job(`${EVIL}/jobs/1`), 2, "the key stays here"],
  ["a job elsewhere without a scheme", job(`//${host}/jobs/1`), 2, "succeeded"],
  [
    "a job at a host that begins as ours",
    job(`http://127.0.0.1.nip.example:${host.split(":")[1]}/`),
    2,
    "the key stays here",
  ],
  ["a job whose user looks like our host", job(`http://127.0.0.1@${host}/`), 2, "the key stays here"],
  ["a job with a password", job(`http://a:b@${host}/`), 2, "the key stays here"],
  ["a job with backslashes", job(`http:\\\\${host}\\jobs`), 2, "the key stays here"],
  ["a job with a tab in its host", job(`http://127.0.0.1\t${host.slice(9)}/`), 2, "the key stays here"],
  ["a job by https", job(`https://${host}/`), 2, "the key stays here"],
  ["a job by a file", job("file:///etc/passwd"), 2, "the key stays here"],
  ["a job at no address", job("jobs/1"), 2, "the key stays here"],
  ["a job that leads upwards", job("/jobs/../admin"), 2, 'is "." or ".."'],
  ["a job that leads upwards, encoded", job("/jobs/%2e%2E/admin"), 2, 'is "." or ".."'],
  [
    "a job that is no text",
    at("/jobs", () => ({ json: { id: { a: 1 } } })),
    0,
    "what the form takes for its operation",
  ],
  ["a job of 1,000,000 characters", job(`/${"a".repeat(1_000_000)}`), 2, "the key stays here"],
  [
    "a Location elsewhere",
    at("/jobs", () => ({ status: 202, headers: { location: `${EVIL}/1` }, json: { id: "1" } })),
    2,
    "the key stays here",
  ],
  [
    "a found job elsewhere",
    (call, own) =>
      call.path === "/found" ? { json: { id: "1", url: `${EVIL}/1` } } : redirect("/jobs")(call, own),
    2,
    "the key stays here",
  ],
  ["a file elsewhere", made(`${EVIL}/x`), 3, "an output is at a host"],
  ["a file at a look-alike", made("https://evil-cdn.named.example/x"), 3, "an output is at a host"],
  [
    "a file below a look-alike",
    made("https://cdn.named.example.evil.example/x"),
    3,
    "an output is at a host",
  ],
  ["a file at another port", made("https://cdn.named.example:8443/x"), 3, "an output is at a host"],
  ["a file by http at a port", made("http://cdn.named.example:8080/x"), 3, "an output is at a host"],
  ["a file with a user", made("https://a@cdn.named.example/x"), 3, "an output is at a host"],
  ["a file with unicode dots elsewhere", made("https://evil。example/x"), 3, "an output is at a host"],
  ["a file of this machine", made("file:///etc/passwd"), 3, "an output is at a host"],
  ["a file that is no address", made("\u0000"), 3, "an output is at a host"],
  ["an answer without an end", at("/jobs/1", () => pour, "GET"), 2, "larger than 1048576 bytes"],
  ["ten thousand levels", body(`${"[".repeat(10_000)}${"]".repeat(10_000)}`), 2, "with no word on the job"],
  [
    "a list of a million",
    body(`{"status":"done","files":[${"1,".repeat(400_000)}1]}`),
    2,
    "with no word on the job",
  ],
  ["an answer that is cut", body('{"status":"do'), 2, "with no word on the job"],
  [
    "an answer that is said to be packed",
    body('{"status":"done"}', { "content-encoding": "gzip" }),
    2,
    "Z_DATA_ERROR",
  ],
  ["a prototype", body('{"__proto__":{"status":"done"}}'), 2, "with no status"],
  ["a status that is a mapping", body('{"status":{"toString":"done"}}'), 2, "with no status"],
  ["outputs that are no list", at("/jobs/1/result", () => ({ json: { files: "x" } })), 2, "succeeded"],
  ["no outputs at all", at("/jobs/1/result", () => ({ json: {} })), 2, "without the outputs"],
  ["half a letter for an address", job("/jobs/\ud800"), 2, "succeeded"],
];

test.each(HOSTILE)("%s leads to no request elsewhere", async (_, answers, step, said) => {
  elsewhere.arrived.length = 0;
  const { said: steps, texts } = await life(answers);
  expect(steps[step]).toContain(said);
  expect(elsewhere.arrived).toEqual([]);
  expect(leaks(texts)).toEqual([]);
  expect(({} as { status?: string }).status).toBeUndefined();
});

test("a life without trouble needs none of them", async () => {
  const { said, arrived } = await life(() => undefined);
  expect(said).toEqual(["operation", "found", "succeeded", "4", "nothing"]);
  expect(
    arrived.every(
      ({ path, headers }) => path === "/token" || headers.get("authorization") === `Bearer ${TOKEN}`,
    ),
  ).toBe(true);
});

/** Says back all that it was sent, in every place of an answer. */
const echo = (status: number, { headers, body: sent, path }: Arrived): Scripted => {
  const all = `${path} ${sent} ${[...headers].flat().join(" ")}`;
  return {
    ...{
      status,
      headers: { "x-request-id": headers.get("authorization") ?? all.slice(0, 60).replace(/\s/g, "") },
    },
    json: { error: { code: all, message: all, type: all }, status: "bad", why: all },
  };
};

const ECHOED = ["/token", "/files", "/jobs", "/found", "/jobs/1", "/jobs/1/result", "/made/1"] as const;
test.each(ECHOED.flatMap((path) => [200, 400, 401, 403, 429, 500].map((status) => [path, status] as const)))(
  "%s that says with %d what it was sent shows no secret",
  async (path, status) => {
    const { texts } = await life((call) => (call.path === path ? echo(status, call) : undefined));
    expect(leaks(texts)).toEqual([]);
  },
);

const AUTHS: readonly (readonly [string, string])[] = [
  ["a header", '  { header: x-key, value: "${id}", env: { id: CANARY_ID, secret: CANARY_SECRET } }'],
  ["a parameter", '  { query: key, value: "${secret}", env: { id: CANARY_ID, secret: CANARY_SECRET } }'],
  [
    "HTTP basic",
    '  { basic: { user: "${id}", password: "${secret}" }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
  [
    "a signed token",
    '  { jwt: { alg: HS256, key: "${secret}", claims: { iss: "${id}", exp: "${now + 1800}" } }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
  [
    "an assertion",
    '  { oauth: { token_url: /token, assertion: { alg: HS256, key: "${secret}", claims: { iss: "${id}" } } }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
  [
    "client credentials",
    '  { oauth: { token_url: /token, client_id: "${id}", client_secret: "${secret}" }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
  [
    "AWS signatures",
    '  { aws_sigv4: { service: s, region: r, access_key: "${id}", secret_key: "${secret}" }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
  [
    "Volcengine signatures",
    '  { volc_v4: { service: s, region: r, access_key: "${id}", secret_key: "${secret}" }, env: { id: CANARY_ID, secret: CANARY_SECRET } }',
  ],
];
const TOKEN_AUTH = FORM.slice(FORM.indexOf("  token:"), FORM.indexOf("limits:"));

test.each(AUTHS)("%s that is said back shows in no error", async (_, auth) => {
  for (const path of ECHOED) {
    const sent: string[] = [];
    const answers: Answers = (call) => {
      if (call.path.split("?")[0] !== path)
        return call.path === "/token" ? { json: { access_token: TOKEN } } : undefined;
      sent.push(
        call.headers.get("authorization") ?? "",
        new URLSearchParams(call.body.toString()).get("assertion") ?? "",
      );
      return echo(401, call);
    };
    const { texts } = await life(answers, [TOKEN_AUTH, `${auth}\n`]);
    expect(leaks(texts)).toEqual([]);
    const tails = sent.map((text) => text.slice(-16)).filter((text) => text !== "");
    expect(tails.filter((tail) => texts.some((text) => text.includes(tail)))).toEqual([]);
  }
});
