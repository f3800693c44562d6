import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

const started: ScriptedUpstream[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const KEY = "house-key-0123456789abcdef";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";

const manifest = `id: house-1
kind: image
name: House style
description: Pictures as this house has them.
modes: [{ id: text-to-image, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000 }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: house, upstream_model: style, wording: {} }
`;

const form = (base: string, done = "done") => `provider: house
form: 1
base: ${base}
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /jobs
  json: { prompt: "\${prompt}" }
  operation: { id: "\${body.id}" }
poll:
  get: /jobs/\${operation.id}
  status: \${body.state}
  words: { open: pending, ${done}: succeeded }
  outputs: { base64: "\${body.picture}" }
`;

/** Said when this text is taken up. */
function inForce(text: string): RegExp {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return new RegExp(`"changed":\\["house@${hash}"\\].*own providers are in force`);
}

/** Jobs stay open until they are told to be done; then they say so in this word. */
async function startHouse() {
  const state = { word: "open", made: 0 };
  const upstream = await startUpstream(({ method, headers }) => {
    if (headers.get("x-key") !== KEY) return { status: 401, json: {} };
    if (method === "POST") return { json: { id: `job-${++state.made}` } };
    return { json: { state: state.word, picture: PIXEL } };
  });
  started.push(upstream);
  return { upstream, state };
}

function own(folder: string, kind: "providers" | "models") {
  const path = join(folder, "svc-data", kind);
  mkdirSync(path, { recursive: true });
  return (name: string, text: string) => writeFileSync(join(path, name), text);
}

test("a provider of the data folder makes tasks, is taken up while the server runs, and a task ends by the text it began with", async () => {
  const { upstream, state } = await startHouse();
  const folder = emptyFolder();
  own(folder, "models")("house-1.yaml", manifest);
  const write = own(folder, "providers");
  const args = ["--log-format", "json", "--egress-allow", "127.0.0.0/8"];
  const server = await startServer({ folder, args, env: { HOUSE_KEY: KEY } });
  const api = createApi(server.url, server.firstKey());
  const make = { model: "house-1", prompt: "A fox" };
  expect((await api.create(make)).status).toBe(404);

  write("house.yaml", form(upstream.origin));
  await server.says(inForce(form(upstream.origin)));
  const first = await api.accept(make);
  await upstream.until(2);

  // Its word for an end is another one now, which the running task does not know of.
  write("house.yaml", form(upstream.origin, "finished"));
  await server.says(inForce(form(upstream.origin, "finished")));
  state.word = "done";
  expect((await api.wait(first)).status).toBe("completed");

  write("house.yaml", form(upstream.origin).replace("poll:", "pol:"));
  await server.says(
    /providers\/house\.yaml:9:1: the form has an unknown field \\?"pol\\?"; did you mean \\?"poll\\?"\?; the provider stays as it last was/,
  );
  state.word = "finished";
  expect((await api.make(make)).status).toBe("completed");

  rmSync(join(folder, "svc-data/providers/house.yaml"));
  await server.says(/"removed":\["house"\].*own providers are in force/);
  expect((await api.create(make)).status).toBe(404);
  expect(readdirSync(join(folder, "svc-data/provider-forms"))).toHaveLength(2);
});

test("what cannot be used is told with its place, and the rest runs", async () => {
  const { upstream } = await startHouse();
  const folder = emptyFolder();
  const write = own(folder, "providers");
  write("a.yaml", form(upstream.origin).replace("house", "home"));
  write("b.yaml", form("https://house.example.com"));
  write("c.yaml", form("https://house.example.com"));
  write("fal.yaml", form("https://house.example.com").replace("house", "fal"));
  const server = await startServer({ folder, env: { HOUSE_KEY: KEY } });
  await server.says(
    /a\.yaml:3:1: base: http:\/\/127\.0\.0\.1:\d+ .*allow it with egress\.allow, or give it in svc\.yaml as providers\.home\.base_url; the provider is left out/,
  );
  await server.says(
    /c\.yaml:1:1: provider: \\?"house\\?" is described by b\.yaml too; the provider is left out/,
  );
  await server.says(
    /fal\.yaml:1:1: provider: \\?"fal\\?" is built in; choose another name, or say `replaces: true`/,
  );
  // As the line about a.yaml advises.
  writeFileSync(join(folder, "svc-data/svc.yaml"), "egress: { allow: [127.0.0.0/8] }\n", { mode: 0o600 });
  await server.says(/"changed":\["home@\w+"\].*own providers are in force/);
});

test("commands beside the folder know its providers and their models", async () => {
  const folder = emptyFolder();
  own(folder, "models")("house-1.yaml", manifest);
  own(folder, "providers")("house.yaml", form("https://house.example.com"));
  const server = await startServer({ folder });
  const at = ["--data-dir", server.dataDir];
  const routes = async () => {
    const model = (await svcJson(["models", "show", "house-1", ...at])) as { routes: unknown };
    return model.routes;
  };
  expect(await routes()).toMatchObject([{ provider: "house", available: false, needs: ["HOUSE_KEY"] }]);
  const added = await svc(["providers", "add", "house", "--key-stdin", ...at], { stdin: `${KEY}\n` });
  expect([added.exitCode, added.stderr]).toEqual([0, expect.stringContaining("Kept the key of house")]);
  expect(await routes()).toMatchObject([{ provider: "house", available: true, needs: [] }]);
});
