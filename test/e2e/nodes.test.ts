import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, emptyFolder, type Server, SVC, spawnServer } from "../helpers/server.ts";
import { type DatabaseServer, HAS_POSTGRES, startPostgres } from "../moving/database-servers.ts";

const SECRET_KEY = "k".repeat(43);

/** Resolves once a node takes requests. */
async function ready(node: Server): Promise<Server> {
  for (;;) {
    const answer = await fetch(`${node.url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return node;
    if (node.hasExited()) throw new Error(node.stderr());
    await Bun.sleep(20);
  }
}

describe.skipIf(!HAS_POSTGRES)("nodes of one PostgreSQL database", () => {
  let folder: string;
  let postgres: DatabaseServer;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-nodes-");
    postgres = await startPostgres(folder);
  });
  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = (url: string, more: Record<string, string> = {}) => ({
    ...{ SVC_DATABASE: url, SVC_SECRET_KEY: SECRET_KEY, SVC_SCHEDULER_LEASE_SECONDS: "2", ...more },
  });

  function start(url: string, assets: string, more: Record<string, string>, given = {}): Promise<Server> {
    const env = environment(url, { SVC_ASSETS_PATH: assets, ...more });
    return ready(spawnServer({ ...given, env }));
  }

  function run(url: string | undefined, ...args: string[]) {
    const env = cleanEnvironment(url === undefined ? {} : { SVC_DATABASE: url });
    const { exitCode, stdout, stderr } = Bun.spawnSync([SVC, ...args], { env });
    return { exitCode, text: stdout.toString() + stderr.toString() };
  }

  const call = async (node: Server, key: string, path: string, body?: object) => {
    const answer = await fetch(node.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as { data: { task_id?: string; status?: string; result?: string[] } & [] };
  };

  /** The task once it has ended. */
  async function ended(node: Server, key: string, id: string | undefined) {
    for (;;) {
      const { data } = await call(node, key, `/v1/tasks/${id}`);
      if (data.status !== "pending" && data.status !== "processing") return data;
      await Bun.sleep(50);
    }
  }

  test("what one takes in another makes, and a third goes on when that one is killed", async () => {
    const url = await postgres.newDatabase();
    const assets = emptyFolder("assets");
    const worker = await start(url, assets, { SVC_ROLE: "worker", SVC_NODE_NAME: "first" });
    const key = worker.firstKey();
    const api = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "desk" });

    const picture = { model: "sandbox-image", prompt: "a lighthouse", size: "64x64" };
    // It waits for a task that another node makes.
    const sync = await call(api, key, "/compat/v1/images/generations", picture);
    expect(sync.data).toHaveLength(1);

    const slow = { ...picture, sandbox: { delay_ms: 3_000 } };
    const { data } = await call(api, key, "/v1/images/generations", slow);
    const path = `/v1/tasks/${data.task_id}`;
    while ((await call(api, key, path)).data.status !== "processing") await Bun.sleep(20);
    process.kill(worker.pid, "SIGKILL");
    const second = await start(url, assets, { SVC_ROLE: "worker", SVC_NODE_NAME: "second" });
    const task = await ended(api, key, data.task_id);
    expect(task.status).toBe("completed");
    const file = await fetch(api.url + new URL(task.result?.[0] ?? "").pathname);
    expect([file.status, file.headers.get("Content-Type")]).toEqual([200, "image/png"]);

    const nodes = JSON.parse(run(url, "nodes", "list", "--local", "--json").text);
    const named = nodes.nodes.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`);
    expect(named.sort()).toEqual(["desk api", "first worker", "second worker"]);
    await Promise.all([api.stop(), second.stop()]);
    expect(run(url, "audit", "--local")).toMatchObject({ exitCode: 0 });
  });

  test("the deadline and the race of a group hold when the node that took it is killed", async () => {
    const url = await postgres.newDatabase();
    const assets = emptyFolder("assets");
    const worker = await start(url, assets, { SVC_ROLE: "worker", SVC_NODE_NAME: "first" });
    const key = worker.firstKey();
    const desk = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "desk" });
    const other = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "other" });
    const after = (delay_ms: number) => ({
      ...{ model: "sandbox-image", prompt: "a lighthouse", size: "64x64", sandbox: { delay_ms } },
    });
    const group = async (body: object) =>
      ((await call(desk, key, "/v1/groups", body)).data as { task_ids?: string[] }).task_ids ?? [];
    const late = await group({ requests: [after(20_000)], deadline_seconds: 3 });
    const race = await group({ requests: [after(2_000), after(20_000)], policy: "first" });
    process.kill(desk.pid, "SIGKILL");
    const ends = [...late, ...race].map((id) => ended(other, key, id));
    const statuses = (await Promise.all(ends)).map(({ status }) => status);
    expect(statuses).toEqual(["cancelled", "completed", "cancelled"]);
    await Promise.all([other.stop(), worker.stop()]);
  });

  test("a call that a stopping node could not finish joins its task on another node", async () => {
    const url = await postgres.newDatabase();
    const assets = emptyFolder("assets");
    const worker = await start(url, assets, { SVC_ROLE: "worker", SVC_NODE_NAME: "first" });
    const key = worker.firstKey();
    const desk = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "desk" });
    const other = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "other" });
    const tasks = async () =>
      ((await call(other, key, "/v1/tasks")).data as { tasks?: { task_id: string }[] }).tasks ?? [];
    const picture = { model: "sandbox-image", prompt: "slow", size: "64x64", sandbox: { delay_ms: 4_000 } };
    const cut = call(desk, key, "/compat/v1/images/generations", picture);
    while ((await tasks()).length === 0) await Bun.sleep(20);
    const [first] = await Promise.all([cut, desk.stop()]);
    expect(first).toMatchObject({ error: { code: "service_unavailable" } });
    // Its client sends it again, as the answer says.
    expect((await call(other, key, "/compat/v1/images/generations", picture)).data).toHaveLength(1);
    expect(await tasks()).toHaveLength(1);
    await Promise.all([other.stop(), worker.stop()]);
  });

  test("a call whose node is killed joins its task when it is sent to another one at once", async () => {
    const url = await postgres.newDatabase();
    const assets = emptyFolder("assets");
    const worker = await start(url, assets, { SVC_ROLE: "worker", SVC_NODE_NAME: "first" });
    const key = worker.firstKey();
    const other = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "other" });
    const desk = await start(url, assets, { SVC_ROLE: "api", SVC_NODE_NAME: "desk" });
    // Until then it does not know whether nodes that are silent are gone.
    await Bun.sleep(11_000);
    const tasks = async () =>
      ((await call(other, key, "/v1/tasks")).data as { tasks?: { task_id: string }[] }).tasks ?? [];
    const picture = { model: "sandbox-image", prompt: "slow", size: "64x64", sandbox: { delay_ms: 6_000 } };
    const path = "/compat/v1/images/generations";
    const lost = call(desk, key, path, picture).catch(() => "lost");
    while ((await tasks()).length === 0) await Bun.sleep(20);
    // While its node lives, an equal call is one of its own.
    const twin = call(other, key, path, picture);
    while ((await tasks()).length === 1) await Bun.sleep(20);
    process.kill(desk.pid, "SIGKILL");
    expect(await lost).toBe("lost");
    // As soon as clients send a call again.
    await Bun.sleep(250);
    const again = await call(other, key, path, picture);
    expect([(await twin).data, again.data]).toEqual([expect.any(Array), expect.any(Array)]);
    expect(await tasks()).toHaveLength(2);
    await Promise.all([other.stop(), worker.stop()]);
  });

  test("a worker answers probes and operators, and tells callers to ask another node", async () => {
    const url = await postgres.newDatabase();
    const worker = await start(url, emptyFolder("assets"), {
      SVC_ROLE: "worker",
      SVC_METRICS_PUBLIC: "true",
    });
    const headers = { Authorization: `Bearer ${worker.firstKey()}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ model: "sandbox-image", prompt: "a lighthouse" });
    const asked = async (path: string, init?: RequestInit) => fetch(worker.url + path, init);
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await asked(path)).status).toBe(200);
    expect((await asked("/admin/v1/nodes", { headers })).status).toBe(401);

    const refused = await asked("/v1/images/generations", { method: "POST", headers, body });
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([421, "true"]);
    expect(await refused.json()).toMatchObject({ code: 421, data: { error_code: "wrong_node" } });
    const paths = ["/", "/v1/tasks/task_1", "/v1/models", "/assets/asset_1.png", "/console", "/openapi.json"];
    for (const path of [...paths, "/nothing"]) expect((await asked(path, { headers })).status).toBe(421);
    const compat = await asked("/compat/v1/images/generations", { method: "POST", headers, body });
    expect(await compat.json()).toMatchObject({ error: { code: "wrong_node", type: "server_error" } });
    expect(JSON.parse(run(url, "usage", "--local", "--json").text)).toMatchObject({ rows: [] });
    await worker.stop();
  });

  test("a data folder is moved there with work under way, is refused after that, and is moved back", async () => {
    const url = await postgres.newDatabase();
    const one = await ready(spawnServer({ env: { SVC_SECRET_KEY: SECRET_KEY } }));
    while (!existsSync(join(one.dataDir, "bootstrap.json"))) await Bun.sleep(20);
    const key = one.firstKey();
    const body = { model: "sandbox-image", prompt: "slow", size: "64x64", sandbox: { delay_ms: 4_000 } };
    const { data } = await call(one, key, "/v1/images/generations", body);
    await one.stop();

    expect(run(undefined, "db", "move", "--to", url, "--data-dir", one.dataDir)).toMatchObject({
      exitCode: 0,
    });
    const again = spawnServer({ dataDir: one.dataDir, env: { SVC_SECRET_KEY: SECRET_KEY } });
    expect(await again.exited).not.toBe(0);
    expect(again.stderr()).toContain("was moved to 127.0.0.1:");

    const assets = join(one.dataDir, "assets");
    const node = await start(url, assets, {}, { dataDir: one.dataDir });
    expect((await ended(node, key, data.task_id)).status).toBe("completed");
    expect(run(url, "db", "move", "--to", one.dataDir).text).toContain("Another svc works on");
    expect(run(url, "db", "move", "--to", emptyFolder("other")).text).toContain("Stop every node first");
    await node.stop();
    expect(run(url, "db", "move", "--to", one.dataDir)).toMatchObject({ exitCode: 0 });
    const left = spawnServer({ env: environment(url, { SVC_ASSETS_PATH: assets }) });
    expect(await left.exited).not.toBe(0);
    expect(left.stderr()).toContain(`were moved to the data folder ${one.dataDir}`);
    expect(run(url, "keys", "create", "--name", "late").text).toContain(one.dataDir);

    const back = await ready(spawnServer({ dataDir: one.dataDir, env: { SVC_SECRET_KEY: SECRET_KEY } }));
    expect((await call(back, key, `/v1/tasks/${data.task_id}`)).data.status).toBe("completed");
    await back.stop();
    expect(run(undefined, "audit", "--data-dir", one.dataDir)).toMatchObject({ exitCode: 0 });
  });

  test("a node that was silent while its database was moved away ends, and says where the rows are", async () => {
    const url = await postgres.newDatabase();
    const node = await start(url, emptyFolder("assets"), {});
    process.kill(node.pid, "SIGSTOP");
    const { onceOn } = await import("../moving/database-servers.ts");
    await onceOn(url, "update node set seen_at = 0");
    const to = emptyFolder("moved");
    expect(run(url, "db", "move", "--to", to)).toMatchObject({ exitCode: 0 });
    process.kill(node.pid, "SIGCONT");
    expect(await node.exited).not.toBe(0);
    expect(node.stderr()).toContain(`were moved to the data folder ${to}`);
  });

  test("an address that cannot be reached, or is no empty database, is told without its password", async () => {
    const nowhere = spawnServer({ env: environment("postgres://svc:CANARY-secret@127.0.0.1:1/svc") });
    expect(await nowhere.exited).not.toBe(0);
    const url = await postgres.newDatabase();
    const { onceOn } = await import("../moving/database-servers.ts");
    await onceOn(url, "create table theirs (id int)");
    const foreign = spawnServer({ env: environment(url) });
    expect(await foreign.exited).not.toBe(0);
    expect(foreign.stderr()).toContain('has a table "theirs"');
    for (const { stderr, stdout } of [nowhere, foreign]) expect(stderr() + stdout()).not.toContain("CANARY");
  });
});
