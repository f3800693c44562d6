import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { AUDIT_CHECKS } from "../../src/domain/ports/audit.ts";
import { emptyFolder, svc } from "./support.ts";

const CHECKS = Object.keys(AUDIT_CHECKS).length;

/** A folder with a data folder that has an account of 5.00 in it. */
async function dataFolder(): Promise<{ cwd: string; accountId: string }> {
  const cwd = emptyFolder();
  await svc(["migrate"], { cwd });
  const { stdout } = await svc(["accounts", "create", "studio", "--credit", "5.00"], { cwd });
  return { cwd, accountId: stdout.trim() };
}

/** What no command does. */
function tamper(cwd: string, sql: string): void {
  using db = new Database(join(cwd, "svc-data/svc.db"));
  db.run(sql);
}

test("books that add up are summed up, and end with exit code 0", async () => {
  const { cwd } = await dataFolder();
  expect(await svc(["audit"], { cwd })).toEqual({
    exitCode: 0,
    stdout: [
      "accounts\t1",
      "ledger entries\t1",
      "tasks\t0",
      "live tasks\t0",
      "quotas\t0",
      "usage days\t0",
      "credited\t5.000000 USD",
      "captured\t0.000000 USD",
      "refunded\t0.000000 USD",
      "balance\t5.000000 USD",
      "held\t0.000000 USD",
      "adds up\n",
    ].join("\n"),
    stderr: "",
  });
  const { stdout } = await svc(["audit", "--json"], { cwd });
  expect(JSON.parse(stdout)).toEqual({
    data_dir: join(cwd, "svc-data"),
    adds_up: true,
    checks: CHECKS,
    rows: { accounts: 1, ledger_entries: 1, tasks: 0, live_tasks: 0, quotas: 0, usage_days: 0 },
    sums: {
      currency: "USD",
      credited: "5.000000",
      captured: "0.000000",
      refunded: "0.000000",
      balance: "5.000000",
      held: "0.000000",
    },
    differences: [],
  });
});

test("a balance that is not the sum of its ledger is told with both figures, and ends with exit code 1", async () => {
  const { cwd, accountId } = await dataFolder();
  tamper(cwd, "update account set balance_micros = 4999999");
  const { exitCode, stdout, stderr } = await svc(["audit"], { cwd });
  expect([exitCode, stderr]).toEqual([
    1,
    `error: The books do not add up: 1 of ${CHECKS} checks failed; of each, the first difference is shown.\n`,
  ]);
  expect(stdout.split("\n").slice(-2)).toEqual([
    `differs\taccount_balance\taccount ${accountId}: stored 4.999999 USD, must be 5.000000 USD`,
    "",
  ]);
  expect(stdout).not.toContain("adds up");
});

test("each kind of difference is told once, under --json with its rule and its ids", async () => {
  const { cwd, accountId } = await dataFolder();
  tamper(
    cwd,
    `insert into usage_day (account_id, day, key_id, model, completed, failed, cancelled, outputs, charged_micros)
       values ('${accountId}', 20000, 'key_x', 'sandbox-image', 2, 0, 0, 0, 30000),
              ('${accountId}', 20001, 'key_x', 'sandbox-image', 5, 0, 0, 0, 70000)`,
  );
  tamper(cwd, "update schema_migration set applied_at = 0");
  const { exitCode, stdout, stderr } = await svc(["audit", "--json"], { cwd });
  expect([exitCode, JSON.parse(stderr).error.code]).toEqual([1, "books_differ"]);
  const { adds_up, differences } = JSON.parse(stdout);
  const usage = {
    account_id: accountId,
    key_id: "key_x",
    task_id: null,
    model: "sandbox-image",
    day: "2024-10-04",
    ledger_entry: null,
  };
  expect({ adds_up, differences }).toEqual({
    adds_up: false,
    differences: [
      {
        ...usage,
        check: "usage_tasks",
        rule: "the usage of a day counts each task that ended on it once",
        stored: 2,
        expected: 0,
      },
      {
        ...usage,
        check: "usage_charged",
        rule: "the usage of a day is the sum of its charges",
        stored: "0.030000",
        expected: "0.000000",
      },
    ],
  });
});

test("a data folder that is not there, or has tables of another version, is not audited", async () => {
  const cwd = emptyFolder();
  const missing = await svc(["audit"], { cwd });
  expect([missing.exitCode, missing.stderr.startsWith("error: There is no svc data in")]).toEqual([1, true]);

  const { cwd: older } = await dataFolder();
  tamper(older, "delete from schema_migration where number = (select max(number) from schema_migration)");
  const { exitCode, stderr } = await svc(["audit"], { cwd: older });
  expect([exitCode, stderr.startsWith("error: The database lacks migrations:")]).toEqual([1, true]);
  expect(stderr).toContain("`svc migrate` applies them");
});
