import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { keyIn, svc, svcJson } from "./support/command.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const MANIFEST = `id: house-1
kind: image
name: House
description: A picture of a house.
modes: [{ id: text-to-image, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000 }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: house, upstream_model: bricks, wording: {}, cost: list }
`;

const form = (base: string) => `provider: house
form: 1
base: ${base}
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
test: { get: /me }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;

/** A data folder with a provider whose default account works and whose second one does not. */
async function folderOf(base: string): Promise<string> {
  const folder = emptyFolder("routes");
  for (const name of ["models", "providers"])
    mkdirSync(join(folder, "svc-data", name), { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  write("svc-data/models/house-1.yaml", MANIFEST);
  write("svc-data/providers/house.yaml", form(base));
  write(
    "svc-data/svc.yaml",
    "providers: { house: { accounts: [{ name: second, key_env: HOUSE_SECOND }] } }\negress: { allow: [127.0.0.1] }\n",
  );
  return folder;
}

const env = { HOUSE_KEY: "key-of-the-first", HOUSE_SECOND: "key-of-the-second" };

test("a failing account is open, is told, is blocked and allowed, and stays so over a restart", async () => {
  const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
  let isWell = false;
  const submitted: string[] = [];
  const upstream = await startUpstream(({ headers, method }) => {
    const key = headers.get("x-key") ?? "";
    if (method === "GET") return { json: { name: "me" } };
    submitted.push(key);
    return key === env.HOUSE_SECOND && !isWell
      ? { status: 500, json: { error: "boom" } }
      : { json: { picture } };
  });
  started.push(upstream);
  const folder = await folderOf(upstream.origin);
  const server = await startServer({ folder, env });
  const api = createApi(server.url, server.firstKey());
  const make = async () => (await api.make({ model: "house-1", prompt: "x" })).status;
  const local = (of: Server) => ["--data-dir", of.dataDir];

  // Tasks of one moment go to both accounts; each that the second one fails is completed by the first.
  const failed = () => submitted.filter((key) => key === env.HOUSE_SECOND).length;
  for (let round = 0; round < 10 && failed() < 5; round++)
    for (const status of await Promise.all(Array.from({ length: 8 }, make))) expect(status).toBe("completed");
  const tokens = (await svcJson(["tokens", "create", "--name", "t", ...local(server)], { env })) as {
    token: string;
  };
  const remote = ["--server", server.url, "--token", tokens.token];
  const ways = async (args: readonly string[]) =>
    ((await svcJson(["routes", "list", ...args], { env })) as unknown as Record<string, unknown>[]).filter(
      ({ provider }) => provider === "house",
    );
  const open = {
    account: "second",
    upstream_model: "bricks",
    models: ["house-1"],
    breaker: "open",
    state: "open",
  };
  const [first, second] = await ways(remote);
  expect(first).toMatchObject({ account: "default", breaker: "closed", success: 1 });
  expect(second).toMatchObject({
    ...open,
    detail: expect.stringContaining("500"),
    until: expect.any(Number),
  });
  expect((await ways(local(server)))[1]).toMatchObject(open);

  const explain = async (at: readonly string[]) =>
    (await svcJson(["routes", "explain", "house-1", ...at], { env })) as {
      outcome: string;
      ways: { account: string; verdict: string; why?: string; cost?: string }[];
    };
  const verdicts = async (at: readonly string[]) =>
    Object.fromEntries((await explain(at)).ways.map(({ account, verdict }) => [account, verdict]));
  expect(await explain(remote)).toMatchObject({ outcome: "sent" });
  expect(await verdicts(remote)).toEqual({ default: "chosen", second: "open" });

  // On the server at once.
  await svcJson(["routes", "block", "house/default", "--reason", "invoice due", ...remote], { env });
  expect(await verdicts(remote)).toEqual({ default: "blocked", second: "open" });
  expect((await explain(remote)).outcome).toBe("waits");

  // On its folder, while it runs.
  isWell = true;
  await svcJson(["routes", "allow", "house/second", ...local(server)], { env });
  await server.says(/house\/second bricks gets tasks again/);
  expect(await verdicts(remote)).toEqual({ default: "blocked", second: "chosen" });
  submitted.length = 0;
  expect([await make(), submitted]).toEqual(["completed", [env.HOUSE_SECOND]]);

  await server.stop();
  const again = await startServer({ folder, env });
  const then = ["--server", again.url, "--token", tokens.token];
  expect((await ways(then))[0]).toMatchObject({ state: "blocked", detail: "invoice due" });
  expect(await verdicts(then)).toEqual({ default: "blocked", second: "chosen" });
  const shown = await svc(["models", "list", ...then], { env });
  expect(shown.stdout).toMatch(/house-1.*ready/);
  await svcJson(["routes", "allow", "house", ...then], { env });
  expect((await verdicts(then)).default).not.toBe("blocked");
});

test("a refused account gets tasks again once a test proves its key, on the server and on its folder", async () => {
  let isRefused = true;
  const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
  const upstream = await startUpstream(({ method }) => {
    if (isRefused) return { status: 401, json: { error: "no such key" } };
    return { json: method === "GET" ? { name: "me" } : { picture } };
  });
  started.push(upstream);
  const folder = await folderOf(upstream.origin);
  const only = { HOUSE_KEY: env.HOUSE_KEY };
  writeFileSync(join(folder, "svc-data/svc.yaml"), "egress: { allow: [127.0.0.1] }\n", { mode: 0o600 });
  const server = await startServer({ folder, env: only });
  const api = createApi(server.url, server.firstKey());
  const make = async () => (await api.make({ model: "house-1", prompt: "x" })).status;
  const local = ["--data-dir", server.dataDir];
  const { token } = (await svcJson(["tokens", "create", "--name", "t", ...local])) as { token: string };
  const remote = ["--server", server.url, "--token", token];

  for (const place of [remote, local]) {
    isRefused = true;
    expect(await make()).toBe("failed");
    const shown = await svcJson(["models", "show", "house-1", ...local], { env: only });
    expect(shown).toMatchObject({ routes: [{ refused: expect.stringContaining("401"), shut: true }] });
    const [way] = (await svcJson(["routes", "list", ...remote])) as [{ breaker: string; state: string }];
    expect(way).toMatchObject({ lane: "house", breaker: "open", state: "refused" });
    isRefused = false;
    expect(await make()).toBe("failed");
    expect(await svcJson(["providers", "test", "house", ...place], { env: only })).toMatchObject({
      ok: true,
    });
    await until(async () => (await make()) === "completed");
  }
});

test("one caller whose prompts break a provider, or are refused before it, has its own tasks wait or fail", async () => {
  const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
  const upstream = await startUpstream(({ method, body }) => {
    if (method === "GET") return { json: { name: "me" } };
    const text = body.toString();
    if (text.includes("crash")) return { status: 500, json: { error: "boom" } };
    if (text.includes("<script>")) return { status: 403, body: "<title>Forbidden</title>" };
    return { json: { picture } };
  });
  started.push(upstream);
  const folder = await folderOf(upstream.origin);
  writeFileSync(join(folder, "svc-data/svc.yaml"), "egress: { allow: [127.0.0.1] }\n", { mode: 0o600 });
  const server = await startServer({ folder, env: { HOUSE_KEY: env.HOUSE_KEY } });
  const local = ["--data-dir", server.dataDir];
  const callerOf = async (name: string) => {
    await svcJson(["accounts", "create", name, "--mode", "unlimited", ...local]);
    return createApi(
      server.url,
      keyIn(await svcJson(["keys", "create", "--name", name, "--account", name, ...local])),
    );
  };
  const [bad, good] = [await callerOf("bad"), await callerOf("good")];
  const create = (prompt: string) => bad.create({ model: "house-1", prompt });
  await Promise.all(Array.from({ length: 12 }, (_, i) => create(`crash ${i}`)));
  await upstream.until(5);
  for (let i = 0; i < 4; i++) {
    if (i === 2) await create("<script>");
    expect((await good.make({ model: "house-1", prompt: "a fox" })).status).toBe("completed");
  }
});

test("a tenant with two accounts keeps nobody else from a provider, also over a restart, and explain says whose way is open", async () => {
  const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
  const upstream = await startUpstream(({ method, body }) => {
    if (method === "GET") return { json: { name: "me" } };
    return body.toString().includes("crash")
      ? { status: 500, json: { error: "boom" } }
      : { json: { picture } };
  });
  started.push(upstream);
  const folder = await folderOf(upstream.origin);
  writeFileSync(join(folder, "svc-data/svc.yaml"), "egress: { allow: [127.0.0.1] }\n", { mode: 0o600 });
  let server = await startServer({ folder, env: { HOUSE_KEY: env.HOUSE_KEY } });
  const local = ["--data-dir", server.dataDir];
  const keys = new Map<string, string>();
  for (const name of ["one", "two", "good"]) {
    await svcJson(["accounts", "create", name, "--mode", "unlimited", ...local]);
    keys.set(name, keyIn(await svcJson(["keys", "create", "--name", name, "--account", name, ...local])));
  }
  const api = (name: string) => createApi(server.url, keys.get(name) ?? "");
  const make = (name: string) => api(name).make({ model: "house-1", prompt: "a fox" });
  for (const [name, faults] of [
    ["one", 5],
    ["two", 10],
  ] as const) {
    const crash = (_: unknown, i: number) => api(name).create({ model: "house-1", prompt: `crash ${i}` });
    await Promise.all(Array.from({ length: 12 }, crash));
    await upstream.until(faults);
  }
  const json = async <T>(args: readonly string[]) => (await svcJson(args, { env })) as T;
  const detail = async () => (await json<{ detail?: string }[]>(["routes", "list", ...local]))[0]?.detail;
  await until(async () => (await detail())?.includes(" and ") === true);
  expect((await make("good")).status).toBe("completed");
  await server.stop();
  server = await startServer({ folder, env: { HOUSE_KEY: env.HOUSE_KEY } });
  expect((await make("good")).status).toBe("completed");
  const { token } = await json<{ token: string }>(["tokens", "create", "--name", "t", ...local]);
  const explained = (...of: string[]) =>
    json<{ outcome: string; ways: { verdict: string; state: string; why?: string }[] }>([
      "routes",
      "explain",
      "house-1",
      ...of,
      "--server",
      server.url,
      "--token",
      token,
    ]);
  const [own, others] = [await explained("--of-key", "one"), await explained()];
  expect([own.outcome, own.ways[0]?.verdict, others.outcome]).toEqual(["waits", "open", "sent"]);
  expect(others.ways[0]).toMatchObject({ verdict: "chosen", state: "closed" });
  expect(others.ways[0]?.why).toContain("so far for accounts acc_");
});

test("a model that is overloaded for ten minutes keeps no other model of its account waiting, and 429 does", async () => {
  const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
  const asked: string[] = [];
  const upstream = await startUpstream(({ method, body }) => {
    if (method === "GET") return { json: { name: "me" } };
    const prompt: string = JSON.parse(body.toString()).prompt;
    asked.push(prompt);
    const headers = { "retry-after": "600" };
    if (prompt === "busy") return { status: 503, headers, json: { error: "overloaded" } };
    return prompt === "often"
      ? { status: 429, headers, json: { error: "slow down" } }
      : { json: { picture } };
  });
  started.push(upstream);
  const folder = await folderOf(upstream.origin);
  writeFileSync(join(folder, "svc-data/svc.yaml"), "egress: { allow: [127.0.0.1] }\n", { mode: 0o600 });
  const other = MANIFEST.replace("house-1", "house-2").replace("bricks", "wood");
  writeFileSync(join(folder, "svc-data/models/house-2.yaml"), other, { mode: 0o600 });
  const server = await startServer({ folder, env: { HOUSE_KEY: env.HOUSE_KEY } });
  const api = createApi(server.url, server.firstKey());
  const states = async () => {
    const args = ["routes", "list", "--server", server.url, "--token", token];
    const ways = (await svcJson(args)) as { provider: string; state: string }[];
    return ways.flatMap(({ provider, state }) => (provider === "house" ? state : []));
  };
  const local = ["--data-dir", server.dataDir];
  const { token } = (await svcJson(["tokens", "create", "--name", "t", ...local])) as { token: string };
  await api.create({ model: "house-1", prompt: "busy" });
  await until(async () => (await states())[0] === "paused");
  expect((await api.make({ model: "house-2", prompt: "a fox" })).status).toBe("completed");
  await api.create({ model: "house-1", prompt: "a fox" });
  expect([await states(), asked]).toEqual([
    ["paused", "closed"],
    ["busy", "a fox"],
  ]);
  await api.create({ model: "house-2", prompt: "often" });
  await until(async () => (await states()).every((state) => state === "paused"));
});

/** A command on the folder counts within two seconds. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("It never came to be so.");
    await Bun.sleep(100);
  }
}
