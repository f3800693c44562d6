import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

test("an audit raises no alarm over tasks that ended before usage was counted, within the folder's first minute", async () => {
  const server = await startServer();
  await createApi(server.url, server.firstKey()).make(IMAGE);
  await server.stop();
  // As if the first version had made the folder and the task, and the second had been started half a minute later.
  using db = new Database(join(server.dataDir, "svc.db"));
  db.run("pragma busy_timeout = 10000");
  db.run("delete from usage_day");
  db.run(
    "update schema_migration set applied_at = (select completed_at from task) + iif(number = 1, -15000, 15000)",
  );
  const audit = await svc(["audit", "--data-dir", server.dataDir]);
  expect([audit.exitCode, audit.stderr]).toEqual([0, ""]);
});

test("an audit still finds usage that is missing in a folder of this version", async () => {
  const server = await startServer();
  await createApi(server.url, server.firstKey()).make(IMAGE);
  await server.stop();
  using db = new Database(join(server.dataDir, "svc.db"));
  db.run("pragma busy_timeout = 10000");
  db.run("delete from usage_day");
  expect((await svc(["audit", "--data-dir", server.dataDir])).exitCode).toBe(1);
});

test("sums and differences beyond 2^53 are exact", async () => {
  const dataDir = join(emptyFolder(), "svc-data");
  await svc(["migrate", "up", "--data-dir", dataDir]);
  const credit = ["--credit", "999999999.999999", "--data-dir", dataDir];
  for (let account = 0; account < 10; account++) await svc(["accounts", "create", `a${account}`, ...credit]);
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({
    adds_up: true,
    sums: { credited: "9999999999.999990", balance: "9999999999.999990", captured: "0.000000" },
  });
  using db = new Database(join(dataDir, "svc.db"));
  db.run("pragma busy_timeout = 10000");
  db.run("pragma ignore_check_constraints = on");
  db.run("update account set balance_micros = 9223372036854775807 where name = 'a0'");
  const { stdout } = await svc(["audit", "--json", "--data-dir", dataDir]);
  expect(JSON.parse(stdout).differences[0]).toMatchObject({
    check: "account_balance",
    stored: "9223372036854.775807",
    expected: "999999999.999999",
  });
});
