import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDepth,
  type AuditDifference,
  type AuditOutcome,
  type AuditReport,
  type NewSeal,
} from "../../src/domain/ports/audit.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  byHand,
  bySystem,
  endOne,
  keyId,
  micros,
  NOW,
  newKey,
  newTask,
  type StoreUnderTest,
  taskId,
} from "../helpers/store.ts";

/** A store whose books are audited. */
export interface AuditedStore {
  readonly store: StoreUnderTest;
  audit(depth?: AuditDepth): Promise<AuditReport>;
  /** Audits, and keeps the seals that the audit gives unless told otherwise. */
  seal(depth?: AuditDepth, keeps?: boolean): Promise<AuditOutcome>;
  keep(seals: readonly NewSeal[]): Promise<void>;
  /** Has the next tasks and ledger entries be numbered above. */
  numberOn(above: number): Promise<void>;
  /** Writes what no port would, with none of the rules that the database keeps. */
  tamper(...statements: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export const PREPAID = accountId(2);
const QUOTA = { limit: micros(1_000_000), reset: "total" } as const;
const MODEL = "sandbox-image" as ModelId;

/** One of everything: tasks 1 completed and refunded in part, 2 failed and told of, 3 cancelled, 4 live, 5 of the unlimited account. */
export async function keepBooks(all: StoreUnderTest): Promise<void> {
  const { tasks, accounts } = all;
  await addAccount(all, { id: ACCOUNT });
  await addAccount(all, { id: PREPAID, mode: "prepaid", credit: micros(200_000) });
  await accounts.updateAccount(PREPAID, { creditLimit: micros(50_000) }, bySystem());
  await accounts.createKey(newKey({ accountId: PREPAID, policy: { quota: QUOTA } }), undefined, bySystem());
  for (const number of [1, 2, 3, 4]) {
    const callbackUrl = number === 2 || number === 3 ? "https://example.com/hook" : undefined;
    const task = newTask({ number, accountId: PREPAID, callbackUrl });
    await tasks.admit({ task, assets: [], quota: { limit: QUOTA.limit, period: 0 } });
    if (number === 1) await endOne(all, "completed");
    if (number === 2) await endOne(all, "failed");
  }
  await tasks.requestCancel(taskId(3), PREPAID, NOW);
  const limits = { total: 9, perAccount: 9, perHost: 9 };
  await all.callbacks.claim({ now: NOW, leaseMs: 9, limits, underWay: [] });
  await accounts.refund(taskId(1), micros(10_000), "apology", byHand(NOW));
  await accounts.credit(PREPAID, micros(-5_000), "fee", byHand(NOW));
  await admit(all, { number: 5, keyId: keyId(2) });
}

export const entryOf = (task: number, kind: string) =>
  `task_number = ${numberOf(taskId(task))} and kind = '${kind}'`;
const numberOf = (task: string) => `(select number from task where id = '${task}')`;
const accountOf = (account: string) => `(select number from account where id = '${account}')`;
export const addEntry = (account: string, task: string | null, fields: string) =>
  `insert into ledger_entry (account_number, task_number, kind, balance_delta_micros, held_delta_micros, reason_label, actor_label, at)
   values (${accountOf(account)}, ${task === null ? "null" : numberOf(task)}, ${fields}, 1, 1, 0)`;

/** Those that compare rows with what they were: `audit-seals.ts`. */
type SealCheck = "sealed_tasks" | "sealed_entries";

/** For each check, what breaks it alone or with others, and what it then says. */
export const BROKEN = {
  account_balance: [
    [`update account set balance_micros = balance_micros + 1 where id = '${PREPAID}'`],
    { accountId: PREPAID, stored: 165_001n, expected: 165_000n },
  ],
  account_held: [
    [`update account set held_micros = held_micros - 1 where id = '${ACCOUNT}'`],
    { accountId: ACCOUNT, stored: 39_999n, expected: 40_000n },
  ],
  account_live: [
    [`update account set held_micros = held_micros - 1 where id = '${ACCOUNT}'`],
    { accountId: ACCOUNT, stored: 39_999n, expected: 40_000n },
  ],
  account_limit: [
    [`update account set credit_limit_micros = -130000 where id = '${PREPAID}'`],
    { accountId: PREPAID, stored: 40_000n, expected: 35_000n },
  ],
  ledger_orphan: [
    [addEntry(ACCOUNT, taskId(1), "'capture', -7, -7")],
    { accountId: ACCOUNT, taskId: taskId(1), entry: 12, stored: -7n, expected: 0n },
  ],
  ledger_shape: [
    [`update ledger_entry set held_delta_micros = -39999 where ${entryOf(1, "capture")}`],
    { accountId: PREPAID, taskId: taskId(1), entry: 3, stored: -40_000n, expected: -39_999n },
  ],
  task_hold: [
    [`delete from ledger_entry where ${entryOf(4, "hold")}`],
    { accountId: PREPAID, taskId: taskId(4), stored: 0n, expected: 40_000n },
  ],
  task_capture: [
    [
      `update ledger_entry set balance_delta_micros = -39999, held_delta_micros = -39999 where ${entryOf(1, "capture")}`,
    ],
    { accountId: PREPAID, taskId: taskId(1), stored: 39_999n, expected: 40_000n },
  ],
  task_release: [
    [`delete from ledger_entry where ${entryOf(3, "release")}`],
    { accountId: PREPAID, taskId: taskId(3), stored: 0n, expected: 40_000n },
  ],
  task_charge: [
    [`update task set charge = replace(charge, '40000', '39999') where id = '${taskId(1)}'`],
    { accountId: PREPAID, taskId: taskId(1), stored: 40_000n, expected: 39_999n },
  ],
  task_refund: [
    [`update ledger_entry set balance_delta_micros = 40001 where ${entryOf(1, "refund")}`],
    { accountId: PREPAID, taskId: taskId(1), stored: 40_001n, expected: 40_000n },
  ],
  quota_reserved: [
    ["update key_quota set reserved_micros = 0"],
    { keyId: keyId(1), day: 0, stored: 0n, expected: 40_000n },
  ],
  quota_used: [
    ["update key_quota set used_micros = 39999"],
    { keyId: keyId(1), day: 0, stored: 39_999n, expected: 40_000n },
  ],
  usage_tasks: [
    ["update usage_day set failed = 0"],
    { accountId: PREPAID, keyId: keyId(1), model: MODEL, day: 0, stored: 2n, expected: 3n },
  ],
  usage_outputs: [
    ["update usage_day set outputs = 9"],
    { accountId: PREPAID, keyId: keyId(1), model: MODEL, day: 0, stored: 9n, expected: 1n },
  ],
  usage_charged: [
    ["update usage_day set charged_micros = 1"],
    { accountId: PREPAID, keyId: keyId(1), model: MODEL, day: 0, stored: 1n, expected: 40_000n },
  ],
  sums_charged: [
    [
      `insert into books_day select number, 0, 1, 1, 'local', -1, 0, 0, 0, 7, 0, 0, 0, 0, 0 from account where id = '${PREPAID}'`,
    ],
    { accountId: PREPAID, stored: 0n, expected: 7n },
  ],
  sums_shape: [
    [
      `insert into books_day select number, 0, (select number from label where text = '${keyId(1)}'),
         (select number from label where text = '${MODEL}'), 'local', -1, 1, 2, 2, 0, 0, 0, 0, 0, 0 from account where id = '${PREPAID}'`,
    ],
    { accountId: PREPAID, keyId: keyId(1), model: MODEL, day: 0, stored: 2n, expected: 1n },
  ],
  sums_held: [
    [
      addEntry(PREPAID, null, "'hold', 0, 7"),
      "update ledger_entry set entries = 1 where id = (select max(id) from ledger_entry)",
    ],
    { accountId: PREPAID, stored: 7n, expected: 0n },
  ],
  callback_owed: [
    ["delete from callback_attempt", "delete from callback"],
    { accountId: PREPAID, taskId: taskId(2), stored: 0n, expected: 1n },
  ],
  callback_attempts: [
    ["update callback set attempts = 2"],
    { accountId: PREPAID, taskId: taskId(2), stored: 2n, expected: 1n },
  ],
} as const satisfies Record<
  Exclude<AuditCheck, SealCheck>,
  readonly [readonly string[], Omit<AuditDifference, "check">]
>;

export const BOOK_CHECKS = Object.keys(AUDIT_CHECKS).filter(
  (check): check is Exclude<AuditCheck, SealCheck> => !check.startsWith("sealed_"),
);

export const FURTHER: readonly (readonly [string, AuditCheck, readonly string[]])[] = [
  ["an entry of a task that is not there", "ledger_orphan", [addEntry(ACCOUNT, taskId(9), "'hold', 0, 7")]],
  ["a callback of a cancelled task", "callback_owed", [`update callback set task_id = '${taskId(3)}'`]],
  ["a send that was not recorded", "callback_attempts", ["update callback set sends = 2"]],
  [
    "a redelivery that counts as an attempt",
    "callback_attempts",
    ["update callback_attempt set is_redelivery = 1"],
  ],
  ["a capture of no task", "ledger_orphan", [addEntry(ACCOUNT, null, "'capture', -7, -7")]],
  ["a credit with a task", "ledger_orphan", [addEntry(PREPAID, taskId(1), "'credit', 7, 0")]],
  ["a live task that was charged", "task_capture", [addEntry(PREPAID, taskId(4), "'capture', -7, -7")]],
  [
    "a live task of which something was given back",
    "task_release",
    [addEntry(PREPAID, taskId(4), "'release', 0, -7")],
  ],
  ["a task that failed and was charged", "task_capture", [addEntry(PREPAID, taskId(2), "'capture', -7, -7")]],
  ["a hold without a price", "task_hold", [`update task set held_micros = 0 where id = '${taskId(5)}'`]],
  ["a refund of a task that cost nothing", "task_refund", [addEntry(PREPAID, taskId(2), "'refund', 7, 0")]],
  [
    "a charge of more lines than it says",
    "task_charge",
    [`update task set charge = replace(charge, ']', ',{"amount":1}]') where id = '${taskId(1)}'`],
  ],
  ["a live task whose period is not counted", "quota_reserved", ["delete from key_quota"]],
  ["more used of a quota than was charged", "quota_used", ["update key_quota set used_micros = 40001"]],
  [
    "usage of a day without tasks",
    "usage_charged",
    [`insert into usage_day values ('${ACCOUNT}', 5, 'key', 'a', 1, 0, 0, 1, 9)`],
  ],
  ["a day's tasks without usage", "usage_tasks", ["delete from usage_day"]],
];

/** What every audit finds. `open` gives an empty store each time. */
export function describeAudit(name: string, open: () => Promise<AuditedStore>): void {
  const withBooks = (body: (audited: AuditedStore) => Promise<void>) => async () => {
    const audited = await open();
    try {
      await keepBooks(audited.store);
      await body(audited);
    } finally {
      await audited.stop();
    }
  };

  describe(name, () => {
    test(
      "books that nobody tampered with add up, and are counted whole",
      withBooks(async ({ audit }) => {
        expect(await audit()).toEqual({
          rows: { accounts: 2, ledgerEntries: 11, tasks: 5, liveTasks: 2, quotas: 1, usageDays: 1 },
          sums: {
            credited: 195_000n,
            captured: 40_000n,
            refunded: 10_000n,
            balance: 165_000n,
            held: 80_000n,
          },
          differences: [],
          sealed: { depth: "checksums", tasks: 0, ledgerEntries: 0 },
        });
      }),
    );

    describe("a figure that is wrong is found, with what it must be", () => {
      test.each(BOOK_CHECKS)("%s", (check) =>
        withBooks(async ({ audit, tamper }) => {
          const [statements, difference] = BROKEN[check];
          await tamper(...statements);
          const found = (await audit()).differences.filter((each) => each.check === check);
          expect(found).toEqual([{ check, ...difference } as AuditDifference]);
        })(),
      );
    });

    test.each(FURTHER)("%s is found", (_, check, statements) =>
      withBooks(async ({ audit, tamper }) => {
        await tamper(...statements);
        expect((await audit()).differences.map((each) => each.check)).toContain(check);
      })(),
    );

    test(
      "of each check the first difference is told, and a difference of one is no difference of another",
      withBooks(async ({ audit, tamper }) => {
        await tamper("update usage_day set charged_micros = 1", "update key_quota set used_micros = 1");
        const found = (await audit()).differences.map(({ check }) => check);
        expect(found).toEqual(["quota_used", "usage_charged"]);
      }),
    );

    test(
      "a quota given when something was charged already adds up, and no more than that was used before",
      withBooks(async ({ store, audit, tamper }) => {
        const key = keyId(3);
        await store.accounts.createKey(newKey({ number: 3 }), undefined, bySystem());
        await admit(store, { number: 6, keyId: key });
        await store.tasks.requestCancel(taskId(4), PREPAID, NOW);
        await store.tasks.requestCancel(taskId(5), ACCOUNT, NOW);
        await endOne(store, "completed");
        await store.accounts.changeKey(key, { policy: { quota: QUOTA } }, bySystem());
        const quota = { limit: QUOTA.limit, period: 0 };
        await store.tasks.admit({ task: newTask({ number: 7, keyId: key }), assets: [], quota });
        await endOne(store, "completed");
        expect(await store.accounts.keyQuota(key, 0)).toEqual({ used: micros(80_000), reserved: micros(0) });
        expect((await audit()).differences).toEqual([]);
        await tamper(`update key_quota set used_micros = 80001 where key_id = '${key}'`);
        expect((await audit()).differences.map(({ check }) => check)).toEqual(["quota_used"]);
      }),
    );
  });
}
