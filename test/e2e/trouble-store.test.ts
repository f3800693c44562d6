import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";
import { canMount, fill, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
/** The server looks at its folder once a second. */
const FOLDER_GONE = 14;

const opened: Database[] = [];

afterAll(async () => {
  for (const db of opened.splice(0)) db.close();
  await stopServers();
  removeDisks();
});

function openBeside(server: Server): Database {
  const db = new Database(join(server.dataDir, "svc.db"), { strict: true });
  // The server writes too.
  db.run("pragma busy_timeout = 10000");
  opened.push(db);
  return db;
}

async function start(): Promise<{ server: Server; api: Api }> {
  const server = await startServer();
  return { server, api: createApi(server.url, server.firstKey()) };
}

async function readiness({ url }: Server): Promise<[number, unknown]> {
  const response = await fetch(`${url}/readyz`, { keepalive: false });
  return [response.status, await response.json()];
}

async function untilReadinessIs(server: Server, status: number): Promise<unknown> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const [present, body] = await readiness(server);
    if (present === status) return body;
    if (performance.now() > deadline) throw new Error(`Still ${present} ${JSON.stringify(body)}.`);
    await Bun.sleep(20);
  }
}

describe("a database that another process has locked for writing", () => {
  test("stalls nothing: health and reads answer, and what was sent meanwhile is kept and stored", async () => {
    const { server, api } = await start();
    const earlier = await api.make(IMAGE);
    const other = openBeside(server);
    other.run("begin immediate");
    const kept = api.create(IMAGE, { "Idempotency-Key": "sent while locked" });
    for (let round = 0; round < 20; round++) {
      expect((await fetch(`${server.url}/healthz`, { keepalive: false })).status).toBe(200);
      expect((await api.wait(earlier.task_id, "image", 0)).status).toBe("completed");
    }
    other.run("rollback");
    // It would have been refused if any of these had waited for the lock.
    const { status, data } = await kept;
    expect(status).toBe(200);
    expect((await api.wait(data.task_id ?? "")).status).toBe("completed");
    expect(await readiness(server)).toEqual([200, { status: "ready" }]);
  });

  test("makes the service unready as long as creates are refused, and no longer", async () => {
    const { server, api } = await start();
    const other = openBeside(server);
    other.run("begin immediate");
    const waiting = api.create(IMAGE);
    expect(await untilReadinessIs(server, 503)).toEqual({ status: "not_ready", reason: "database_busy" });
    const refused = await api.create(IMAGE);
    expect([refused.status, refused.data.error_code]).toEqual([503, "service_unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const keyed = await api.create(IMAGE, { "Idempotency-Key": "while locked" });
    expect([keyed.status, keyed.data.error_code]).toEqual([503, "idempotency_unavailable"]);
    other.run("rollback");
    await untilReadinessIs(server, 200);
    const kept = (await waiting).data.task_id;
    const accepted = await api.accept(IMAGE, { "Idempotency-Key": "while locked" });
    const tasks = readDatabase<{ id: string }>(server.dataDir, "select id from task order by id");
    expect(tasks.map(({ id }) => id)).toEqual([kept, accepted].map(String));
  });

  test("leaves local commands the time that they need", async () => {
    const { server } = await start();
    const other = openBeside(server);
    other.run("begin immediate");
    setTimeout(() => other.run("rollback"), 500);
    const made = svcJson(["keys", "create", "--name", "beside", "--data-dir", server.dataDir]);
    expect(await made).toMatchObject({ name: "beside" });
  });
});

test.skipIf(!canMount)(
  "a full disk makes the service unready until there is room, without any request (needs root)",
  async () => {
    const disk = smallDisk(24);
    // Its look at the disk every few seconds would tell of little room before a write finds none.
    const env = { SVC_DISK_WARN_MB: "off", SVC_DISK_REFUSE_MB: "off" };
    const server = await startServer({ dataDir: join(disk, "svc-data"), env });
    const api = createApi(server.url, server.firstKey());
    const filler = fill(disk);
    const answers: Promise<number>[] = [];
    // The log still has room for some.
    while ((await readiness(server))[0] === 200 && answers.length < 2_000)
      answers.push(api.create(IMAGE).then(({ status }) => status));
    expect(await readiness(server)).toEqual([503, { status: "not_ready", reason: "disk_full" }]);
    expect((await fetch(`${server.url}/healthz`, { keepalive: false })).status).toBe(200);
    filler.release();
    await untilReadinessIs(server, 200);
    await api.make(IMAGE);
  },
);

describe("a data folder that is not what was opened", () => {
  const elsewhere = ({ dataDir }: Server) => `${dataDir}-elsewhere`;
  const replace = (path: string) => {
    renameSync(path, `${path}.old`);
    writeFileSync(path, "");
  };

  test.concurrent.each<[string, (server: Server) => void, (server: Server) => boolean]>([
    [
      "moved away",
      (server) => renameSync(server.dataDir, elsewhere(server)),
      ({ dataDir }) => !existsSync(dataDir),
    ],
    ["deleted", ({ dataDir }) => rmSync(dataDir, { recursive: true }), ({ dataDir }) => !existsSync(dataDir)],
    [
      "replaced by an empty one",
      (server) => {
        renameSync(server.dataDir, elsewhere(server));
        mkdirSync(server.dataDir);
      },
      ({ dataDir }) => !existsSync(join(dataDir, "svc.db")) && !existsSync(join(dataDir, "assets")),
    ],
    ["without its database", ({ dataDir }) => rmSync(join(dataDir, "svc.db")), () => true],
    ["with another database", ({ dataDir }) => replace(join(dataDir, "svc.db")), () => true],
    ["with another lock", ({ dataDir }) => replace(join(dataDir, "server.lock")), () => true],
    ["without its files", ({ dataDir }) => rmSync(join(dataDir, "assets"), { recursive: true }), () => true],
  ])("ends the server: %s", async (name, change, isLeftAlone) => {
    const { server, api } = await start();
    await api.make(IMAGE);
    // The folder of files is new, and is looked at once a second.
    if (name === "without its files") await Bun.sleep(1_100);
    change(server);
    expect(await Promise.race([server.exited, Bun.sleep(20_000).then(() => "still serving")])).toBe(
      FOLDER_GONE,
    );
    expect(server.stderr()).toContain(`The data folder ${server.dataDir} was moved, deleted or replaced`);
    expect(isLeftAlone(server)).toBe(true);
  });
});

test("a migration is refused while a server runs on the folder, and taken when it has ended", async () => {
  const { server } = await start();
  const beside = await svc(["migrate", "up", "--data-dir", server.dataDir]);
  expect([beside.exitCode, beside.stdout]).toEqual([1, ""]);
  expect(beside.stderr).toContain(`Another svc works on ${server.dataDir}`);
  expect((await svc(["migrate", "status", "--data-dir", server.dataDir])).exitCode).toBe(0);
  await server.stop();
  expect((await svc(["migrate", "up", "--data-dir", server.dataDir])).exitCode).toBe(0);
});

test("a log that a long reader made long is copied once the reader is gone, and its file is overwritten", async () => {
  const { server, api } = await start();
  const log = join(server.dataDir, "svc.db-wal");
  const reader = openBeside(server);
  reader.run("begin");
  reader.query("select count(*) from task").get();
  const writer = openBeside(server);
  writer.run("pragma wal_autocheckpoint = 0");
  writer.run("create table padding (bytes blob)");
  for (let rows = 0; rows < 24; rows++) writer.run("insert into padding values (zeroblob(1000000))");
  await api.make(IMAGE);
  expect(statSync(log).size).toBeGreaterThan(20_000_000);
  reader.run("rollback");
  const state = writer.query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(noop)");
  const isCopied = () => state.get()?.checkpointed === state.get()?.log;
  const deadline = performance.now() + 10_000;
  while (!isCopied() && performance.now() < deadline) await Bun.sleep(50);
  await api.make(IMAGE);
  expect(state.get()?.log).toBeLessThan(1_000);
  expect(statSync(log).size).toBeGreaterThan(20_000_000);
});
