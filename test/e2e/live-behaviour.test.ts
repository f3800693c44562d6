import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged } from "./support/command.ts";

setDefaultTimeout(120_000);

const BASE = "log: { format: json }\n";
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

let server: Server;
let token: string;
let api: ReturnType<typeof createApi>;

beforeAll(async () => {
  const folder = emptyFolder("live");
  mkdirSync(join(folder, "svc-data"), { mode: 0o700 });
  write(folder, BASE);
  server = await startServer({ folder });
  const made = await arranged(["tokens", "create", "--name", "live", "--data-dir", server.dataDir]);
  token = String((made as JsonObject).token);
  api = createApi(server.url, server.firstKey());
});
afterAll(stopServers);

function write(folder: string, yaml: string): void {
  writeFileSync(join(folder, "svc-data/svc.yaml"), yaml, { mode: 0o600 });
}

async function admin(method: string, path: string, body?: object): Promise<JsonObject> {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) };
  const given = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${server.url}/admin/v1${path}`, given);
  return ((await response.json()) as { data: JsonObject }).data;
}

/** Writes settings, and has the server read them. @returns the settings that are others now */
async function take(yaml: string): Promise<unknown> {
  write(server.folder, BASE + yaml);
  const { in_force, changed, restart, problems } = await admin("POST", "/reload");
  expect([in_force, restart, problems]).toEqual([true, [], []]);
  return changed;
}

const readiness = async () => (await fetch(`${server.url}/readyz`)).json();
const statusOf = async (body: object) => (await api.create({ ...IMAGE, ...body } as typeof IMAGE)).status;

test("marks of the disk, limits of what is refused and how long files stay hold from the next look on", async () => {
  expect(await take("disk: { warn_mb: 1000000000 }\n")).toEqual(["disk.warn_mb"]);
  while (!JSON.stringify(await readiness()).includes("disk_low")) await Bun.sleep(50);
  expect(await take("disk: { refuse_mb: 1000000000 }\n")).toEqual(["disk.warn_mb", "disk.refuse_mb"]);
  while ((await statusOf({})) !== 503) await Bun.sleep(50);
  await take("");
  while ((await statusOf({})) !== 200) await Bun.sleep(50);

  const kept = await api.make(IMAGE);
  const url = String((kept.result as string[])[0]);
  expect((await fetch(url)).status).toBe(200);
  await take("retention: { outputs_seconds: 1 }\n");
  expect(await statusOf({ retain_seconds: 2 })).toBe(400);
  while ((await fetch(url)).status !== 404) await Bun.sleep(100);

  await take("shed: { memory_mb: 16 }\n");
  while ((await statusOf({})) !== 503) await Bun.sleep(50);
  await take("");
  while (JSON.stringify(await readiness()).includes("shedding")) await Bun.sleep(50);
});

test("checks of content, addresses that may be reached and tries of callbacks hold from the next request on", async () => {
  const refused = "moderation: { checks: { words: { words: [owl] } }, apply: [words] }\n";
  expect(await statusOf({ prompt: "an owl" })).toBe(200);
  expect(await take(refused)).toEqual(["moderation"]);
  expect([await statusOf({ prompt: "an owl" }), await statusOf({ prompt: "a fox" })]).toEqual([400, 200]);
  const tried = await admin("POST", "/moderation/test", { text: "an owl" });
  expect(tried).toMatchObject({ verdict: "refused", checks: [{ check: "words" }] });
  const broken = await (async () => {
    write(server.folder, `${BASE}moderation: { checks: { words: { words_file: none-such.txt } } }\n`);
    return admin("POST", "/reload");
  })();
  expect(broken).toMatchObject({ in_force: false });
  expect(await statusOf({ prompt: "an owl" })).toBe(400);
  expect(await take("")).toEqual(["moderation"]);
  expect(await statusOf({ prompt: "an owl" })).toBe(200);
  // A check, and the address that it needs, in one step.
  const asked = 'moderation: { checks: { api: { endpoint: "http://127.0.0.1:1234/v1" } } }\n';
  write(server.folder, BASE + asked);
  expect(await admin("POST", "/reload")).toMatchObject({ in_force: false });
  expect(await take(`${asked}egress: { allow: [127.0.0.0/8] }\n`)).toEqual(["egress.allow", "moderation"]);
  write(server.folder, BASE + asked);
  expect(await admin("POST", "/reload")).toMatchObject({ in_force: false });
  await take("");

  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(null, { status: 500 }),
  });
  const callback_url = `http://127.0.0.1:${receiver.port}/`;
  expect(await statusOf({ callback_url })).toBe(400);
  await take("egress: { allow: [127.0.0.0/8] }\ncallbacks: { delays_seconds: [0.01] }\n");
  expect(await statusOf({ callback_url })).toBe(200);
  for (;;) {
    const { callbacks } = (await admin("GET", "/callbacks?state=failed")) as { callbacks: JsonObject[] };
    if (callbacks.length > 0) {
      expect(callbacks[0]).toMatchObject({ attempts: 2, max_attempts: 2 });
      break;
    }
  }
  await take("");
  expect(await statusOf({ callback_url })).toBe(400);
  receiver.stop(true);
});

test("who is told of alerts, and whether requests have lines, change at once", async () => {
  expect((await admin("POST", "/alerts/test")).targets).toEqual([]);
  const told: unknown[] = [];
  const webhook = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      told.push({ path: new URL(request.url).pathname, body: await request.json() });
      return new Response();
    },
  });
  const to = (path: string) => `{ on: all, to: "http://127.0.0.1:${webhook.port}/${path}", private: true }`;
  const sent = { targets: [{ sent: true, error: null }] };
  const body = { alerts: [{ state: "test" }] };
  expect(await take(`alerts: [${to("old")}]\n`)).toEqual(["alerts"]);
  expect(await admin("POST", "/alerts/test")).toMatchObject(sent);
  // Nothing of the path is shown, for it is the secret of a chat's webhook.
  expect(await take(`alerts: [${to("new")}]\n`)).toEqual(["alerts"]);
  expect(await take(`alerts: [${to("new")}]\n`)).toEqual([]);
  expect(await admin("POST", "/alerts/test")).toMatchObject(sent);
  expect(told).toMatchObject([
    { path: "/old", body },
    { path: "/new", body },
  ]);
  webhook.stop(true);

  const lines = () => server.stderr().split('"path":"/v1/models"').length - 1;
  await api.send("/v1/models");
  await server.says(/"path":"\/v1\/models"/);
  write(server.folder, "log: { format: json, requests: false }\n");
  expect((await admin("POST", "/reload")).changed).toContain("log.requests");
  const before = lines();
  await api.send("/v1/models");
  await take("");
  await api.send("/v1/models");
  while (lines() === before) await Bun.sleep(20);
  expect(lines()).toBe(before + 1);
});
