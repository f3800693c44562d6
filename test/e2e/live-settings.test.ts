import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svc as svcHere } from "../cli/support.ts";
import { cleanEnvironment, emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";

setDefaultTimeout(120_000);

let server: Server;
let token: string;
const upstreams: { stop(force: boolean): void }[] = [];

const BASE = "log: { format: json }\n";

beforeAll(async () => {
  const folder = emptyFolder("live");
  mkdirSync(join(folder, "svc-data"), { mode: 0o700 });
  write(folder, BASE);
  server = await startServer({ folder });
  token = (await here("tokens", "create", "--name", "live", "--data-dir", server.dataDir)).token;
});
afterAll(async () => {
  await stopServers();
  for (const each of upstreams) each.stop(true);
});

function write(folder: string, yaml: string): void {
  writeFileSync(join(folder, "svc-data/svc.yaml"), yaml, { mode: 0o600 });
}

async function here(...args: string[]) {
  const { exitCode, stdout, stderr } = await svcHere([...args, "--json"], { env: cleanEnvironment() });
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Writes the settings, and has the server read them. */
async function reload(yaml: string) {
  write(server.folder, yaml);
  return admin("POST", "/reload");
}

async function admin(method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) };
  const given = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${server.url}/admin/v1${path}`, given);
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

async function ask(path: string, init: RequestInit = {}) {
  const headers = {
    Authorization: `Bearer ${server.firstKey()}`,
    "Content-Type": "application/json",
    ...init.headers,
  };
  return fetch(server.url + path, { ...init, headers });
}

const create = (model: string) =>
  ask("/v1/images/generations", {
    method: "POST",
    body: JSON.stringify({ model, prompt: "x", size: "16x16" }),
  });

async function priceOf(model: string): Promise<unknown> {
  const response = await ask("/v1/pricing/estimate", {
    method: "POST",
    body: JSON.stringify({ model, prompt: "x" }),
  });
  const { data } = (await response.json()) as { data: Record<string, unknown> };
  return data.max_cost;
}

const PRICING = `pricing:
  sandbox-image:
    lines:
      - { sku: sandbox-image, unit: output, amount: "0.770000" }
`;

test("what can change comes into force at once, and what cannot is named", async () => {
  expect((await create("house-image")).status).toBe(404);
  const answer = await reload(
    `log: { format: json, level: debug }\nport: 1\naliases: { house-image: sandbox-image }\ncors: { origins: [https://app.example] }\n${PRICING}`,
  );
  expect(answer).toEqual({
    in_force: true,
    changed: ["cors.origins", "aliases", "log.level", "pricing"],
    restart: [],
    problems: [],
  });
  expect((await create("house-image")).status).toBe(200);
  const shared = await ask("/v1/models", { headers: { Origin: "https://app.example" } });
  expect(shared.headers.get("access-control-allow-origin")).toBe("https://app.example");
  expect(await priceOf("sandbox-image")).toBe("0.770000");
  await ask("/healthz");
  expect(await server.says(/"level":"debug"/)).toContain("debug");

  const back = await reload(`${BASE}host: "::1"\nedge: { timeout_seconds: 50 }\n`);
  expect(back).toMatchObject({ in_force: true, restart: ["host", "edge.timeout_seconds"] });
  expect((await create("house-image")).status).toBe(404);
  expect(await priceOf("sandbox-image")).not.toBe("0.770000");
  expect(await server.says(/need a restart/)).toContain('"settings":["host","edge.timeout_seconds"]');
  const { settings } = (await admin("GET", "/config")) as { settings: { key: string; value: unknown }[] };
  expect(settings.find(({ key }) => key === "host")?.value).toBe("127.0.0.1");
});

test("a broken file is told with line and column, and leaves all as it was", async () => {
  await reload(`${BASE}aliases: { kept: sandbox-image }\n`);
  const answer = await reload(`${BASE}aliases: { lost: sandbox-image }\nlog:\n  levle: info\n`);
  expect(answer).toMatchObject({ in_force: false, changed: [], restart: [] });
  expect(String(answer.problems)).toContain("svc.yaml:3:1: this key is already in the same mapping");
  const { in_force, problems } = await reload(`${BASE}aliases: { lost: sandbox-image }\nprot: 1\n`);
  expect([in_force, String(problems)]).toEqual([
    false,
    expect.stringContaining("svc.yaml:3:1: prot: is not a setting"),
  ]);
  expect(await server.says(/prot: is not a setting/)).toContain('"level":"error"');
  expect(await reload(`${BASE}aliases: { lost: sandbox-image }\npricing: { nothing: {} }\n`)).toMatchObject({
    in_force: false,
  });
  expect([(await create("kept")).status, (await create("lost")).status]).toEqual([200, 404]);
});

test("accounts of providers and their keys change without a restart", async () => {
  const keys: (string | null)[] = [];
  const upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      keys.push(request.headers.get("authorization"));
      return Response.json({ object: "list", data: [] });
    },
  });
  upstreams.push(upstream);
  const path = join(server.dataDir, "main.key");
  writeFileSync(path, "sk-first-0123456789\n", { mode: 0o600 });
  const yaml = `${BASE}providers:\n  openai:\n    base_url: http://127.0.0.1:${upstream.port}\n    accounts: [{ name: main, key_file: main.key }]\n`;
  expect(await reload(yaml)).toMatchObject({
    in_force: true,
    changed: expect.arrayContaining(["providers.openai.base_url", "providers.openai.accounts"]),
    restart: [],
  });
  const tested = async () => admin("POST", "/providers/openai/test", {});
  expect(JSON.stringify(await tested())).toContain('"openai/main"');
  writeFileSync(path, "sk-second-0123456789\n", { mode: 0o600 });
  // The settings file is the same; SIGHUP reads keys anew, too.
  const { pid } = await here("config", "reload", "--data-dir", server.dataDir);
  expect(pid).toBe(server.pid);
  while (keys.at(-1) !== "Bearer sk-second-0123456789") await tested();
  expect([...new Set(keys)]).toEqual(["Bearer sk-first-0123456789", "Bearer sk-second-0123456789"]);
  const gone = await reload(BASE);
  expect(gone.changed).toEqual(expect.arrayContaining(["providers.openai.accounts"]));
  expect(JSON.stringify(await tested())).not.toContain('"openai/main"');
  expect(server.stderr()).not.toContain("sk-first-0123456789");
});

test("a change of the file is taken up by itself", async () => {
  write(server.folder, `${BASE}aliases: { by-itself: sandbox-image }\n`);
  while ((await create("by-itself")).status !== 200) await Bun.sleep(50);
});

test("a file that is gone is told, and what it said stays in force", async () => {
  await reload(`${BASE}aliases: { moved: sandbox-image }\n`);
  rmSync(join(server.dataDir, "svc.yaml"));
  expect(await server.says(/svc\.yaml: is gone; put it back/)).toContain('"level":"error"');
  const answer = await admin("POST", "/reload");
  expect(answer).toMatchObject({ in_force: false, changed: [], restart: [] });
  expect((await create("moved")).status).toBe(200);
  expect(await reload("")).toMatchObject({ in_force: true, changed: ["aliases"] });
  expect((await create("moved")).status).toBe(404);
});
