import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { prepaidKey, svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const FAILING = { ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } };
const HANGING = { ...IMAGE, n: 2, sandbox: { outcome: "hang" } };

function audit(dataDir: string) {
  return svcJson(["audit", "--data-dir", dataDir]);
}

/** What the database itself does not let happen. */
function tamper(dataDir: string, sql: string): void {
  using db = new Database(join(dataDir, "svc.db"));
  db.run("pragma busy_timeout = 10000");
  const triggers = db
    .query<{ name: string }, []>("select name from sqlite_master where type = 'trigger'")
    .all();
  for (const { name } of triggers) db.run(`drop trigger ${name}`);
  db.run(sql);
}

test("the books of a live server add up, with what was done and what is under way", async () => {
  const server = await startServer();
  const api = createApi(server.url, await prepaidKey(server.dataDir, "studio", "1.00"));
  const { task_id: refunded } = await api.make(IMAGE);
  await api.make(FAILING);
  await api.underWay(await api.accept(HANGING));
  await svcJson([
    "accounts",
    "refund",
    refunded,
    "--amount",
    "0.004",
    "--reason",
    "late",
    "--data-dir",
    server.dataDir,
  ]);
  expect(await audit(server.dataDir)).toMatchObject({
    data_dir: server.dataDir,
    adds_up: true,
    rows: { accounts: 2, ledger_entries: 7, tasks: 3, live_tasks: 1, quotas: 0, usage_days: 1 },
    sums: {
      credited: "1.000000",
      captured: "0.010000",
      refunded: "0.004000",
      balance: "0.994000",
      held: "0.020000",
    },
    differences: [],
  });
});

test("an audit sees one moment of a server at work, whenever it looks", async () => {
  const server = await startServer();
  const api = createApi(server.url, await prepaidKey(server.dataDir, "studio", "100.00"));
  let isDone = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isDone) await api.make(IMAGE);
  });
  const held: string[] = [];
  for (let round = 0; round < 12; round++) {
    const { exitCode, stdout, stderr } = await svc(["audit", "--json", "--data-dir", server.dataDir]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    held.push(JSON.parse(stdout).sums.held);
  }
  isDone = true;
  await Promise.all(clients);
  // Or it would have been no test.
  expect(held.filter((amount) => amount !== "0.000000")).not.toEqual([]);
});

test("the books add up after SIGKILL, before any server has started again, and an audit leaves them as they are", async () => {
  const server = await startServer();
  const api = createApi(server.url, server.firstKey());
  await api.make(IMAGE);
  await api.underWay(await api.accept(HANGING));
  server.signal("SIGKILL");
  await server.exited;
  const file = join(server.dataDir, "svc.db");
  const stored = async () => [
    Bun.hash(await Bun.file(file).bytes()),
    Bun.hash(await Bun.file(`${file}-wal`).bytes()),
  ];
  const before = await stored();
  expect(await audit(server.dataDir)).toMatchObject({ adds_up: true, rows: { tasks: 2, live_tasks: 1 } });
  expect(await stored()).toEqual(before);
});

test("a charge and a hold that the ledger does not know are told with their tasks, and end with exit code 1", async () => {
  const server = await startServer();
  const api = createApi(server.url, server.firstKey());
  const { task_id: charged } = await api.make(IMAGE);
  const live = await api.accept(HANGING);
  await api.underWay(live);
  await server.stop();
  tamper(server.dataDir, `update task set charged_micros = 10001 where id = '${charged}'`);
  tamper(server.dataDir, `update task set held_micros = 1 where id = '${live}'`);

  const { exitCode, stdout, stderr } = await svc(["audit", "--data-dir", server.dataDir]);
  expect([exitCode, stderr.startsWith("error: The books do not add up:")]).toEqual([1, true]);
  const told = stdout.split("\n").filter((line) => line.startsWith("differs"));
  expect(told.find((line) => line.includes("task_charge"))).toContain(
    `task ${charged}: stored 0.010001 USD, must be 0.010000 USD`,
  );
  expect(told.find((line) => line.includes("task_hold"))).toContain(
    `task ${live}: stored 0.020000 USD, must be 0.000001 USD`,
  );
});
