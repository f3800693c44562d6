import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openLocal } from "../../src/app/local.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import { openStore } from "../../src/store/open.ts";
import { admit, NOW, taskId } from "../helpers/store.ts";
import { emptyFolder, svc } from "./support.ts";

/** A folder with a data folder and the account "studio" in it, with 5 USD. */
async function withAccount(): Promise<string> {
  const cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
  await json(cwd, "accounts", "create", "studio", "--credit", "5.00");
  return cwd;
}

async function json(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await svc([...args, "--json"], { cwd });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("what limits an unlimited account in nothing is told", async () => {
  const cwd = await withAccount();
  const told = async (...args: string[]) => (await svc(["accounts", ...args], { cwd })).stderr;
  const unlimited = /is unlimited/;
  expect(await told("credit", "studio", "5")).not.toMatch(unlimited);
  await told("update", "studio", "--mode", "unlimited");
  const [{ id }] = (await json(cwd, "accounts", "list")).accounts;
  for (const args of [
    ["credit", "studio", "5"],
    ["update", "studio", "--credit-limit", "1"],
  ])
    expect(await told(...args)).toEndWith(
      `studio is unlimited: its requests are refused for want of money only beyond 8e9 USD owed. To change that: svc accounts update ${id} --mode prepaid\n`,
    );
  expect(await told("credit", "studio", "-1")).not.toMatch(unlimited);
});

describe("the terms of an account", () => {
  test("the command that is named next works on the same folder", async () => {
    const cwd = emptyFolder();
    expect((await svc(["migrate", "--data-dir", "my data"], { cwd })).exitCode).toBe(0);
    const { stdout, stderr } = await svc(["accounts", "create", "studio", "-d", "my data"], { cwd });
    expect(stderr).toContain(
      `Its first key: svc keys create --name NAME --account ${stdout.trim()} --data-dir 'my data'\n`,
    );
  });

  test("are given by flags, shown, and taken back one by one", async () => {
    const cwd = await withAccount();
    const before = await json(cwd, "accounts", "list");
    const [{ id }] = before.accounts;
    const terms = ["--credit-limit", "10.00", "--price-multiplier", "1.25", "--low-balance", "5.00"];
    const changed = await json(cwd, "accounts", "update", "studio", ...terms);
    expect(changed).toEqual({
      ...before.accounts[0],
      available: "15.000000",
      credit_limit: "10.000000",
      price_multiplier: "1.25",
      low_balance: "5.000000",
    });
    expect(await json(cwd, "accounts", "show", id)).toMatchObject(changed);
    const shown = (await svc(["accounts", "show", "studio"], { cwd })).stdout;
    expect(shown).toContain(
      "credit limit\t10.000000 USD\navailable\t15.000000 USD\nlow balance\t5.000000 USD\nprices\t× 1.25\n",
    );
    expect(await json(cwd, "accounts", "update", "studio", "--mode", "unlimited")).toEqual({
      ...changed,
      mode: "unlimited",
      available: null,
    });
    const back = ["--mode", "prepaid", "--credit-limit", "none", "--price-multiplier", "none"];
    await json(cwd, "accounts", "update", "studio", ...back, "--low-balance", "none");
    expect(await json(cwd, "accounts", "list")).toEqual(before);
  });

  test("that cannot be end with an error that names the flag and change nothing", async () => {
    const cwd = await withAccount();
    const before = await json(cwd, "accounts", "list");
    const refused: [string[], number, string][] = [
      [["update", "studio"], 2, "There is nothing to change"],
      [["update", "studio", "--mode", "free"], 2, '--mode must be one of prepaid, unlimited, got "free".'],
      [
        ["update", "studio", "--credit-limit", "-1"],
        2,
        '--credit-limit must be an amount from 0, got "-1.000000".',
      ],
      [["update", "studio", "--credit-limit", "5,00"], 2, "--credit-limit must be an amount like 5.00"],
      [["update", "studio", "--low-balance", "0.0000001"], 2, 'got "0.0000001".'],
      [["update", "studio", "--price-multiplier", "0"], 2, "--price-multiplier must be a number above 0"],
      [["update", "studio", "--price-multiplier", "1e3"], 2, 'got "1e3".'],
      [["update", "nobody", "--low-balance", "1"], 5, 'There is no account "nobody".'],
      [["credit", "studio", "0"], 13, "An amount of zero changes nothing."],
      [["credit", "studio", "-5.01"], 13, "would leave less than is held"],
      [["credit", "studio", "1", "--reason", ""], 13, "reason must have 1 to 500 characters, got 0."],
      [["refund", "task_01jd0000000000000000000000"], 2, "Required option '--reason <text>' not specified."],
      [["refund", "task_01jd0000000000000000000000", "--reason", "x"], 5, "There is no task"],
      [["suspend", "nobody", "--yes"], 5, 'There is no account "nobody".'],
    ];
    const answers = await Promise.all(refused.map(([args]) => svc(["accounts", ...args], { cwd })));
    for (const [i, [, exitCode, says]] of refused.entries()) {
      expect([answers[i]?.exitCode, answers[i]?.stdout]).toEqual([exitCode, ""]);
      expect(answers[i]?.stderr).toContain(says);
    }
    expect(await json(cwd, "accounts", "list")).toEqual(before);
  });
});

test("accounts are suspended and activated, which is told", async () => {
  const cwd = await withAccount();
  const { stderr } = await svc(["accounts", "suspend", "studio", "--yes"], { cwd });
  expect(stderr).toBe(
    "✓ Account studio is suspended in ./svc-data. A running server refuses its keys within a second.\n",
  );
  expect((await json(cwd, "accounts", "list")).accounts).toMatchObject([{ status: "suspended" }]);
  expect(await json(cwd, "accounts", "activate", "studio")).toMatchObject({ status: "active" });
});

test("an account tells which tasks its money is held for, oldest first, and the latest of its ledger", async () => {
  const cwd = await withAccount();
  const { id } = await json(cwd, "accounts", "show", "studio");
  const store = openStore({ path: join(cwd, "svc-data/svc.db") });
  for (const number of [1, 2, 3])
    await admit(store, { number, accountId: id, held: toMicros(number * 10_000), createdAt: NOW + number });
  await store.tasks.requestCancel(taskId(2), id, NOW + 9);
  await store.stop();
  for (let i = 0; i < 20; i++) await json(cwd, "accounts", "credit", "studio", "1.00");
  const { held, holds, ledger } = await json(cwd, "accounts", "show", "studio");
  expect([held, ledger.length]).toEqual(["0.040000", 20]);
  expect(holds).toEqual([
    { task_id: taskId(1), amount: "0.010000", since: 1_000 },
    { task_id: taskId(3), amount: "0.030000", since: 1_000 },
  ]);
  const { stdout, stderr } = await svc(["accounts", "show", "studio"], { cwd });
  expect(stdout).toContain(`HELD FOR\n1970-01-01 00:16:40Z      0.010000  ${taskId(1)}\n`);
  expect(stderr).toBe(
    "What one waits for: svc task trace TASK\nThere are earlier movements: svc ledger studio --limit all\n",
  );
});

describe("the ledger", () => {
  test("is printed newest first with a running balance, as lines, JSON and comma-separated values", async () => {
    const cwd = await withAccount();
    await json(cwd, "accounts", "credit", "studio", "-1.25", "--reason", 'mistake, "mine"');
    await json(cwd, "accounts", "credit", "studio", "2.00", "--reason", "=HYPERLINK(1)");
    const { account, entries } = await json(cwd, "ledger", "studio");
    expect(account).toMatchObject({ name: "studio", balance: "5.750000" });
    const row = {
      at: expect.any(Number),
      held_delta: "0.000000",
      task_id: null,
      entries: null,
      actor: "operator",
    };
    expect(entries).toEqual([
      { ...row, kind: "credit", balance_delta: "2.000000", balance: "5.750000", reason: "=HYPERLINK(1)" },
      {
        ...row,
        kind: "adjustment",
        balance_delta: "-1.250000",
        balance: "3.750000",
        reason: 'mistake, "mine"',
      },
      { ...row, kind: "credit", balance_delta: "5.000000", balance: "5.000000", reason: "first credit" },
    ]);
    const lines = (await svc(["ledger", "studio"], { cwd })).stdout.split("\n");
    expect(lines[0]).toMatch(
      /^\d{4}-.*Z\tcredit\t2\.000000\t0\.000000\t5\.750000\t\t=HYPERLINK\(1\)\toperator$/,
    );
    const csv = (await svc(["ledger", "studio", "--csv"], { cwd })).stdout.split("\r\n");
    expect(csv.map((line) => line.replace(/^\d{4}-[^,]*Z,/, ""))).toEqual([
      "time,kind,balance_delta,held_delta,balance,task_id,reason,actor",
      "credit,2.000000,0.000000,5.750000,,'=HYPERLINK(1),operator",
      'adjustment,-1.250000,0.000000,3.750000,,"mistake, ""mine""",operator',
      "credit,5.000000,0.000000,5.000000,,first credit,operator",
      "",
    ]);
  });

  test("of more movements than are read at once is whole, each movement once", async () => {
    const cwd = await withAccount();
    const local = await openLocal({ dataDir: join(cwd, "svc-data") });
    const movement = { reason: "x" };
    await Promise.all(
      Array.from({ length: 1_050 }, () => local.manage.creditAccount("studio", toMicros(1), movement)),
    );
    await local.stop();
    const { stdout } = await svc(["ledger", "studio", "--limit", "all"], { cwd });
    const balances = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[4] ?? "");
    expect([balances.length, new Set(balances).size, balances[0]]).toEqual([1_051, 1_051, "5.001050"]);
    const { entries } = await json(cwd, "ledger", "studio", "--limit", "1001");
    expect(entries).toHaveLength(1_001);
  });

  test("is limited, and says when there is more", async () => {
    const cwd = await withAccount();
    await json(cwd, "accounts", "credit", "studio", "1");
    const { stdout, stderr } = await svc(["ledger", "studio", "--limit", "1"], { cwd });
    expect([stdout.split("\n").length, stderr]).toEqual([
      2,
      "There are earlier ones: --limit all shows every one.\n",
    ]);
    expect(await svc(["ledger", "studio", "--limit", "2"], { cwd })).toMatchObject({ stderr: "" });
    expect((await json(cwd, "ledger", "studio", "--limit", "all")).entries).toHaveLength(2);
  });
});

describe("usage", () => {
  test("of no tasks is nothing, over the days asked for", async () => {
    const cwd = await withAccount();
    const nothing = {
      ...{ completed: 0, failed: 0, cancelled: 0, outputs: 0 },
      ...{ charged: "0.000000", upstream_cost: null, margin: null, resubmitted: 0 },
    };
    const days = ["--since", "2026-11-01", "--until", "2026-11-30"];
    expect(await json(cwd, "usage", "--by", "key", "--account", "studio", ...days)).toEqual({
      ...{ by: "key", since: "2026-11-01", until: "2026-11-30", currency: "USD" },
      ...{ rows: [], total: nothing },
    });
    expect((await svc(["usage", "--by", "key", "--csv"], { cwd })).stdout).toBe(
      "account,key_id,key,completed,failed,cancelled,outputs,charged,upstream_cost,margin,resubmitted\r\n",
    );
    const week = await json(cwd, "usage", "--since", "7d");
    const lengthMs = Date.parse(week.until) - Date.parse(week.since);
    expect([week.by, lengthMs]).toEqual(["day", 7 * 86_400_000]);
  });

  test.each([
    [
      ["usage", "--since", "yesterday"],
      2,
      '--since must be a day like 2026-11-01, or a time ago like 30d, got "yesterday".',
    ],
    [["usage", "--until", "2026-02-30"], 2, "--until must be a day"],
    [
      ["usage", "--by", "hour"],
      2,
      '--by must be one or two of day, model, provider, account, key, as day,model, got "hour".',
    ],
    [["usage", "--csv", "--json"], 2, "cannot be used with"],
    [["usage", "--account", "nobody"], 5, 'There is no account "nobody".'],
    [["usage", "--since", "2026-11-02", "--until", "2026-11-01"], 13, "since must not be after until"],
    [["ledger"], 2, "Missing required argument 'account'."],
    [["ledger", "nobody"], 5, 'There is no account "nobody".'],
    [["ledger", "studio", "--limit", "0"], 2, '--limit must be a whole number from 1, or all, got "0".'],
  ])("is refused to %p", async (args, exitCode, says) => {
    const ended = await svc(args, { cwd: await withAccount() });
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ""]);
    expect(ended.stderr).toContain(says);
  });
});
