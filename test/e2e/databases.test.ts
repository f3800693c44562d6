import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  spawnServer,
  stopServers,
} from "../helpers/server.ts";
import { type DatabaseServer, HAS_POSTGRES, startPostgres } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { openReceiver } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const PICTURE = { model: "sandbox-image", prompt: "a lighthouse", size: "16x16", sandbox: { delay_ms: 0 } };

const environment = (url: string, more: Record<string, string> = {}) => ({
  ...{ SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), SVC_ASSETS_PATH: emptyFolder("assets"), ...more },
});

/** A node that takes requests. */
async function node(url: string, more: Record<string, string> = {}): Promise<Server> {
  const started = spawnServer({ args: ALLOW_LOOPBACK, env: environment(url, more) });
  await started.ready();
  return started;
}

function run(url: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([SVC, ...args], {
    env: cleanEnvironment({ SVC_DATABASE: url }),
  });
  return { exitCode, text: stdout.toString() + stderr.toString() };
}

describe.skipIf(!HAS_POSTGRES)("a node of a PostgreSQL database", () => {
  let folder: string;
  let postgres: DatabaseServer;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-databases-");
    postgres = await startPostgres(folder);
  });
  afterAll(async () => {
    await stopServers();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("works by node-postgres, too: takes tasks, makes them, tells of them, and its books add up", async () => {
    const url = await postgres.newDatabase();
    const served = await node(url, { SVC_DATABASE_DRIVER: "pg" });
    const api = createApi(served.url, served.firstKey());
    const receiver = openReceiver();
    const task = await api.make({ ...PICTURE, callback_url: receiver.url });
    await receiver.received(1);
    expect(receiver.posts[0]?.body).toMatchObject({ task_id: task.task_id, status: "completed" });
    await receiver.stop();
    expect(await served.stop()).toBe(0);
    expect(run(`${url}?client=pg`, "audit", "--local")).toMatchObject({ exitCode: 0 });
  });
});
