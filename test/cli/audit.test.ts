import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProgram } from "../../cli/program.ts";
import { AUDIT_CHECKS } from "../../src/domain/ports/audit.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

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
    sealed: { depth: "checksums", tasks: 0, ledger_entries: 0 },
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

/** Has the entry of the credit be on a page of its own, which is sealed. */
async function sealedFolder(): Promise<string> {
  const { cwd } = await dataFolder();
  tamper(
    cwd,
    `insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, reason_label, actor_label)
       select 20000, account_number, 'credit', 1000000, 0, at, reason_label, actor_label from ledger_entry`,
  );
  tamper(cwd, "update account set balance_micros = 6000000");
  expect(await svc(["audit"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
  return cwd;
}

test("what was verified is compared with its seal, taken at its word, or checked again", async () => {
  const cwd = await sealedFolder();
  const { stdout, stderr, exitCode } = await svc(["audit"], { cwd });
  expect([exitCode, stderr]).toEqual([
    0,
    "Rows that are as they were when an audit verified them: 0 tasks, 1 ledger entry.\n",
  ]);
  expect((await svc(["audit", "--full"], { cwd })).stdout).toBe(stdout);
  expect(await svc(["audit", "--new"], { cwd })).toEqual({
    exitCode: 0,
    stdout,
    stderr: "Rows that an audit verified before, and that were not read: 0 tasks, 1 ledger entry.\n",
  });
  const sealed = async (...flags: string[]) =>
    JSON.parse((await svc(["audit", "--json", ...flags], { cwd })).stdout).sealed;
  expect(await sealed()).toEqual({ depth: "checksums", tasks: 0, ledger_entries: 1 });
  expect(await sealed("--full")).toEqual({ depth: "full", tasks: 0, ledger_entries: 0 });
  expect((await svc(["audit", "--new", "--full"], { cwd })).exitCode).toBe(2);
});

test("a sealed entry that was changed is told with its page, and ends with exit code 1", async () => {
  const cwd = await sealedFolder();
  tamper(cwd, "drop trigger ledger_entry_is_not_changed");
  tamper(cwd, "update ledger_entry set at = at + 1 where id = 1");
  const { exitCode, stdout } = await svc(["audit"], { cwd });
  expect([exitCode, stdout.split("\n").at(-2)]).toEqual([
    1,
    expect.stringMatching(
      /^differs\tsealed_entries\tpage from ledger entry 0: checksum \d+, sealed with \d+$/,
    ),
  ] as never);
  expect((await svc(["audit", "--full"], { cwd })).exitCode).toBe(0);
  expect((await svc(["audit"], { cwd })).exitCode).toBe(0);
});

test("books that add up and cannot be sealed add up, and it is said", async () => {
  const { cwd } = await dataFolder();
  tamper(
    cwd,
    `insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, reason_label, actor_label)
       select 20000, account_number, 'credit', 1000000, 0, at, reason_label, actor_label from ledger_entry`,
  );
  tamper(cwd, "update account set balance_micros = 6000000");
  tamper(
    cwd,
    "create trigger no_seal before insert on audit_seal begin select raise(abort, 'is read-only'); end",
  );
  const { exitCode, stdout, stderr } = await svc(["audit"], { cwd });
  expect([exitCode, stdout.endsWith("adds up\n"), stderr]).toEqual([
    0,
    true,
    expect.stringContaining("What was verified could not be sealed: is read-only"),
  ] as never);
});

test("an audit of a folder gives way to others on its machine", async () => {
  const { cwd } = await dataFolder();
  let times = 0;
  const giveWay = () => {
    times += 1;
  };
  const exitCode = await runProgram(["audit"], { ...fakeContext({ cwd }), giveWay });
  expect([exitCode, times]).toEqual([0, 1]);
});
