import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Arrived, type Scripted, startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const SECRETS = {
  CANARY_ID: "canary-id-8f3a61c2d9e04b57",
  CANARY_SECRET: "canary-secret-27b5e0417c93ad60",
};
const TOKEN = "canary-token-94d2f7a81e5c3b06";

const MANIFEST = `id: canary-1
kind: image
name: Canary
description: Says back what it was sent.
modes: [{ id: text-to-image, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000 }
price: { lines: [{ sku: canary, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: canary, upstream_model: style, wording: {} }
`;

const form = (base: string) => `provider: canary
form: 1
base: ${base}
media: [own-with-key]
auth:
  token: { post: /token, json: { id: "\${id}", secret: "\${secret}" }, value: "\${body.token}" }
  env: { id: CANARY_ID, secret: CANARY_SECRET }
submit:
  post: /jobs
  json: { prompt: "\${prompt}" }
  operation: { id: "\${body.id}" }
poll:
  get: /jobs/\${operation.id}
  status: \${body.state}
  words: { open: pending, done: succeeded, bad: { failed: bad_input } }
  message: \${body.?why}
  outputs: { url: "\${body.url}" }
`;

/** Says back all that it was sent. */
function echo(status: number, { headers, body }: Arrived, more: object = {}): Scripted {
  // No token is known before the first.
  const token = headers.get("authorization") ?? "";
  const all = `${token} ${body} ${Object.values(SECRETS).join(" ")}`;
  return {
    status,
    headers: { "x-request-id": token.slice(-TOKEN.length) },
    json: { error: { code: all, message: all }, why: all, ...more },
  };
}

/** Each prompt meets another trouble; the one that says nothing of it is made. */
async function startCanary() {
  let refusedToken = false;
  const jobs: string[] = [];
  const upstream = await startUpstream((call): Scripted => {
    if (call.path === "/token") {
      refusedToken = !refusedToken;
      return refusedToken ? echo(500, call) : { json: { token: TOKEN } };
    }
    if (call.path.startsWith("/made")) return echo(404, call);
    if (call.method === "POST") {
      const { prompt } = JSON.parse(call.body.toString());
      if (prompt === "refused") return echo(422, call);
      if (prompt === "unauthorized") return echo(401, call);
      return { json: { id: `job-${jobs.push(prompt)}` } };
    }
    const prompt = jobs[Number(call.path.split("-").at(-1)) - 1];
    if (prompt === "failed") return echo(200, call, { state: "bad" });
    if (prompt === "unknown")
      return echo(200, call, { state: `${TOKEN} ${call.headers.get("authorization")}` });
    return echo(200, call, { state: "done", url: `${upstream.origin}/made/1` });
  });
  started.push(upstream);
  return upstream;
}

/** Every file below a folder, and its content. */
function contents(folder: string): [path: string, content: string][] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, "latin1")]);
}

test("no piece of a secret or a minted token is in answers, logs, listings, files or recordings, whatever an upstream says back", async () => {
  const upstream = await startCanary();
  const folder = emptyFolder();
  for (const [kind, name, text] of [
    ["models", "canary-1.yaml", MANIFEST],
    ["providers", "canary.yaml", form(upstream.origin)],
  ] as const) {
    mkdirSync(join(folder, "svc-data", kind), { recursive: true });
    writeFileSync(join(folder, "svc-data", kind, name), text);
  }
  const recordings = join(folder, "recordings");
  const args = [
    ...["--log-format", "json", "--log-level", "debug", "--egress-allow", "127.0.0.0/8"],
    ...["--record", recordings],
  ];
  const server = await startServer({ folder, args, env: SECRETS });
  const api = createApi(server.url, server.firstKey());
  const ended: unknown[] = [];
  for (const prompt of ["refused", "failed"]) ended.push(await api.make({ model: "canary-1", prompt }));
  const unknown = await api.accept({ model: "canary-1", prompt: "unknown" });
  await api.accept({ model: "canary-1", prompt: "a fox" });
  await server.says(/says a status that its form does not have/);
  await server.says(/an output was answered with 404/);
  // The account is out of use from here on.
  ended.push(await api.make({ model: "canary-1", prompt: "unauthorized" }));
  const listed = await svc(["providers", "list", "--json", "--data-dir", server.dataDir]);
  await server.stop();
  const written: [string, string][] = [
    ["the answers", JSON.stringify([ended, unknown])],
    ["stdout", server.stdout()],
    ["stderr", server.stderr()],
    ["the listing", `${listed.stdout}${listed.stderr}`],
    ...contents(server.dataDir),
    ...contents(recordings),
  ];
  expect(ended).toMatchObject([{ status: "failed" }, { status: "failed" }, { status: "failed" }]);
  expect(written.some(([, text]) => text.includes("[secret]"))).toBe(true);
  expect(contents(recordings)).toHaveLength(5);
  const pieces = [...Object.values(SECRETS), TOKEN].flatMap((secret) =>
    Array.from({ length: secret.length - 15 }, (_, i) => secret.slice(i + 8, i + 16)),
  );
  const found = written.flatMap(([place, text]) =>
    pieces.filter((piece) => text.includes(piece)).map((piece) => `${place}: ${piece}`),
  );
  expect(found).toEqual([]);
});
