import { describe, expect, test } from "bun:test";
import type { AuditDepth, AuditDifference } from "../../src/domain/ports/audit.ts";
import { ACCOUNT, byHand, endOne, micros, NOW, newTask, taskId } from "../helpers/store.ts";
import {
  type AuditedStore,
  addEntry,
  BOOK_CHECKS,
  BROKEN,
  entryOf,
  FURTHER,
  keepBooks,
  PREPAID,
} from "./audit.ts";

/** On another page than the first rows. */
const ABOVE = 20_000;
const ofTask = (id: string) => `(select number from task where id = '${id}')`;

/** The books of the contract of audits, whose live tasks 4 and 5 have high numbers: tasks 1 to 3 have a page of their own, and are sealed. */
export async function sealBooks({ store, tamper, numberOn, seal }: AuditedStore) {
  await keepBooks(store);
  const moved = [4, 5].flatMap((number) => {
    const own = `task_number = ${ofTask(taskId(number))}`;
    return [
      `update ledger_entry set id = ${ABOVE} + id where ${own}`,
      ...["ledger_entry", "attempt", "asset"].map(
        (table) => `update ${table} set task_number = ${ABOVE + number} where ${own}`,
      ),
      `update task set number = ${ABOVE + number} where id = '${taskId(number)}'`,
    ];
  });
  await tamper(...moved);
  await numberOn(ABOVE + 100);
  return seal();
}

const SEALED = { tasks: 3, ledgerEntries: 9 };

/** What was written to sealed rows, of which the seal alone knows in some cases. */
const CHANGED: readonly (readonly [string, "sealed_tasks" | "sealed_entries", string])[] = [
  ["a charge", "sealed_tasks", `update task set charged_micros = 39999 where id = '${taskId(1)}'`],
  ["a price", "sealed_tasks", `update task set held_micros = 40001 where id = '${taskId(2)}'`],
  ["a status", "sealed_tasks", `update task set status = 'failed' where id = '${taskId(1)}'`],
  [
    "an end that is on the same day",
    "sealed_tasks",
    `update task set completed_at = completed_at + 1 where id = '${taskId(1)}'`,
  ],
  [
    "an account",
    "sealed_tasks",
    `update task set account_number = (select number from account where id = '${ACCOUNT}') where id = '${taskId(2)}'`,
  ],
  ["a number of outputs", "sealed_tasks", `update task set results = '[1,2,3]' where id = '${taskId(1)}'`],
  [
    "an address to tell",
    "sealed_tasks",
    `update task set callback_url = 'https://example.com/x' where id = '${taskId(2)}'`,
  ],
  [
    "the lines of a charge",
    "sealed_tasks",
    `update task set charge = replace(charge, '40000', '39999') where id = '${taskId(1)}'`,
  ],
  ["a number", "sealed_tasks", `update task set number = 77 where id = '${taskId(3)}'`],
  ["a task that is gone", "sealed_tasks", `delete from task where id = '${taskId(3)}'`],
  [
    "a task that lives again",
    "sealed_tasks",
    `update task set pool = 'under_way', due_at = 1, stage = 'running' where id = '${taskId(3)}'`,
  ],
  [
    "a key and a period beyond all numbers",
    "sealed_tasks",
    `update task set key_label = ${2 ** 53}, quota_period = ${2 ** 53} where id = '${taskId(3)}'`,
  ],
  [
    "an amount",
    "sealed_entries",
    `update ledger_entry set balance_delta_micros = 9999 where ${entryOf(1, "refund")}`,
  ],
  ["an hour", "sealed_entries", `update ledger_entry set at = at + 1 where ${entryOf(1, "capture")}`],
  ["an entry that is gone", "sealed_entries", `delete from ledger_entry where ${entryOf(2, "release")}`],
  [
    "an entry of another task",
    "sealed_entries",
    `update ledger_entry set task_number = 77 where ${entryOf(3, "release")}`,
  ],
  [
    "an entry of another kind",
    "sealed_entries",
    `update ledger_entry set kind = 'adjustment', task_number = null where ${entryOf(1, "refund")}`,
  ],
];

type Broken = readonly [statements: readonly string[], difference: Omit<AuditDifference, "check">];

/** What every store does with seals of pages. */
export function describeSeals(name: string, open: () => Promise<AuditedStore>): void {
  const withSeals = (body: (audited: AuditedStore) => Promise<void>) => async () => {
    const audited = await open();
    try {
      await sealBooks(audited);
      await body(audited);
    } finally {
      await audited.stop();
    }
  };
  const checksOf = async ({ audit }: AuditedStore, depth?: AuditDepth) =>
    (await audit(depth)).differences.map(({ check }) => check);

  describe(name, () => {
    test(
      "an audit that takes seals at their word, one that compares and one that reads all say the same",
      withSeals(async ({ audit }) => {
        const { sealed, ...full } = await audit("full");
        expect({ differences: full.differences, sealed }).toEqual({
          differences: [],
          sealed: { depth: "full", tasks: 0, ledgerEntries: 0 },
        });
        expect(await audit()).toEqual({ ...full, sealed: { depth: "checksums", ...SEALED } });
        expect(await audit("new")).toEqual({ ...full, sealed: { depth: "new", ...SEALED } });
      }),
    );

    test.each(CHANGED)("%s of a sealed row is found", (_, check, statement) =>
      withSeals(async (audited) => {
        await audited.tamper(statement);
        const { differences, sealed } = await audited.audit();
        expect([differences.map((each) => each.check), sealed.tasks]).toEqual([
          expect.arrayContaining([check]),
          0,
        ] as never);
      })(),
    );

    test(
      "a change that agrees with all books is found by its seal alone, until a full audit takes it for right",
      withSeals(async (audited) => {
        await audited.tamper(`update task set completed_at = completed_at + 1 where id = '${taskId(2)}'`);
        expect(await checksOf(audited, "new")).toEqual([]);
        const { differences } = await audited.audit();
        expect(differences).toMatchObject([{ check: "sealed_tasks", taskId: taskId(1) }]);
        // Nothing is sealed where something is wrong.
        expect((await audited.seal()).seals).toEqual([]);
        expect(await checksOf(audited)).toEqual(["sealed_tasks"]);
        expect((await audited.seal("full")).report.differences).toEqual([]);
        expect(await audited.audit()).toMatchObject({ differences: [], sealed: SEALED });
      }),
    );

    test(
      "the text of lines that many charges have alike is sealed, too",
      withSeals(async (audited) => {
        const { store, tamper, numberOn, seal, audit } = audited;
        await store.tasks.requestCancel(taskId(5), ACCOUNT, NOW);
        await endOne(store, "completed");
        for (const number of [6, 7]) {
          await store.tasks.admit({ task: newTask({ number, accountId: ACCOUNT }), assets: [] });
          await endOne(store, "completed");
        }
        await store.tasks.admit({ task: newTask({ number: 8, accountId: ACCOUNT }), assets: [] });
        const moved = 2 * ABOVE;
        await tamper(
          `update ledger_entry set task_number = ${moved}, id = ${moved} where task_number = ${ofTask(taskId(8))}`,
          `update task set number = ${moved} where id = '${taskId(8)}'`,
        );
        await numberOn(moved);
        await seal();
        expect((await audit()).sealed.tasks).toBe(7);
        await tamper("update label set text = replace(text, '40000', '40001') where text like '[{%'");
        const { differences } = await audit();
        expect(differences.map(({ check }) => check)).toEqual(["task_charge", "sealed_tasks"]);
      }),
    );

    test.each(["task", "ledger_entry"])(
      "a seal of %s that is wrong is told, and the rows are checked in full",
      (table) =>
        withSeals(async (audited) => {
          await audited.tamper(
            `update audit_seal set figures = replace(figures, '"checksum":"', '"checksum":"1') where table_name = '${table}'`,
          );
          const { differences, sealed } = await audited.audit();
          expect([differences.map(({ check }) => check), sealed.tasks]).toEqual([
            [table === "task" ? "sealed_tasks" : "sealed_entries"],
            0,
          ]);
        })(),
    );

    test(
      "seals of another version, and what is none, are no seals",
      withSeals(async (audited) => {
        await audited.tamper("update audit_seal set version = version + 1");
        expect(await audited.audit()).toMatchObject({ differences: [], sealed: { tasks: 0 } });
        await audited.seal();
        expect(await audited.audit()).toMatchObject({ differences: [], sealed: SEALED });
        await audited.tamper("update audit_seal set figures = 'x'");
        expect(await audited.audit()).toMatchObject({ differences: [], sealed: { tasks: 0 } });
      }),
    );

    describe("with seals, a figure that is wrong is found as without", () => {
      test.each(BOOK_CHECKS)("%s", (check) =>
        withSeals(async ({ audit, tamper }) => {
          // Entries have other numbers here.
          const [statements, { entry, ...difference }]: Broken = BROKEN[check];
          await tamper(...statements);
          const found = (await audit()).differences.filter((each) => each.check === check);
          expect(found).toMatchObject([{ check, ...difference }]);
        })(),
      );
    });

    test.each(FURTHER)("with seals, %s is found", (_, check, statements) =>
      withSeals(async (audited) => {
        await audited.tamper(...statements);
        expect(await checksOf(audited)).toContain(check);
      })(),
    );

    test(
      "an entry that comes after its task was sealed is checked with the task",
      withSeals(async (audited) => {
        const entry = addEntry(PREPAID, taskId(1), "'release', 0, -7");
        const isLate = [
          ["(account_number", "(id, account_number"],
          ["values (", `values (${ABOVE + 50}, `],
        ];
        await audited.tamper(isLate.reduce((text, [from = "", to = ""]) => text.replace(from, to), entry));
        expect(await checksOf(audited, "new")).toContain("task_release");
      }),
    );

    test(
      "a refund of a sealed task, new tasks and their ends leave everything right",
      withSeals(async ({ store, audit, seal }) => {
        await store.accounts.credit(PREPAID, micros(1_000), "more", byHand(NOW));
        await store.tasks.requestCancel(taskId(4), PREPAID, NOW);
        await endOne(store, "completed");
        await store.tasks.admit({ task: newTask({ number: 6, accountId: ACCOUNT }), assets: [] });
        expect(await audit()).toMatchObject({ rows: { tasks: 6 }, differences: [], sealed: SEALED });
        await seal();
        const { sealed, ...full } = await audit("full");
        expect(await audit("new")).toEqual({ ...full, sealed: { depth: "new", ...SEALED } });
      }),
    );

    describe("retention", () => {
      test(
        "breaks the seal of what it changes, and the next audit seals it anew",
        withSeals(async ({ store, audit, seal }) => {
          await store.retention.remove(taskId(1), NOW, PREPAID);
          expect(await audit()).toMatchObject({ differences: [], sealed: { tasks: 0, ledgerEntries: 9 } });
          await seal();
          expect(await audit()).toMatchObject({ differences: [], sealed: SEALED });
          await store.retention.sumUp([taskId(1)]);
          expect(await audit()).toMatchObject({ differences: [], sealed: { tasks: 0, ledgerEntries: 0 } });
          await seal();
          expect(await audit("new")).toMatchObject({ differences: [], sealed: { tasks: 2 } });
        }),
      );

      test(
        "that removes callbacks breaks the seal of their tasks",
        withSeals(async ({ store, audit, tamper }) => {
          await tamper("update callback set state = 'delivered', pool = null");
          await store.retention.expire(["callbacks"], [taskId(2)], NOW);
          expect(await audit()).toMatchObject({ differences: [], sealed: { tasks: 0, ledgerEntries: 9 } });
          expect(await audit("new")).toMatchObject({ differences: [] });
        }),
      );

      test(
        "that changes rows while an audit runs leaves them unsealed",
        withSeals(async ({ store, audit, seal, keep }) => {
          const { seals } = await seal("full", false);
          await store.retention.remove(taskId(1), NOW, PREPAID);
          await keep(seals);
          expect(await audit()).toMatchObject({ differences: [], sealed: { tasks: 0 } });
          await seal();
          expect(await audit()).toMatchObject({ differences: [], sealed: SEALED });
        }),
      );
    });

    test(
      "two audits at once store the same",
      withSeals(async ({ seal, keep, audit }) => {
        const [one, other] = [await seal("full", false), await seal("full", false)];
        expect(other.seals).toEqual(one.seals);
        await Promise.all([keep(one.seals), keep(other.seals)]);
        expect(await audit()).toMatchObject({ differences: [], sealed: SEALED });
      }),
    );
  });
}
