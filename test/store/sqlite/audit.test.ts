import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import type { AuditDepth, AuditOutcome } from "../../../src/domain/ports/audit.ts";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { prepareAudit } from "../../../src/store/sqlite/audit.ts";
import { openForReading } from "../../../src/store/sqlite/connection.ts";
import { type AuditedStore, describeAudit, entryOf, keepBooks, PREPAID } from "../../contracts/audit.ts";
import { describeSeals, sealBooks } from "../../contracts/audit-seals.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { admit, byHand, endOne, keyId, micros, NOW, newTask, taskId } from "../../helpers/store.ts";

const TRIGGERS = [
  ...["ledger_entry_is_not_changed", "ledger_entry_is_not_removed"],
  ...["task_end_is_final", "task_is_not_removed", "label_stays_as_it_is"],
];

function tamper(path: string, ...statements: readonly string[]): void {
  const db = new Database(path);
  for (const trigger of TRIGGERS) db.run(`drop trigger if exists ${trigger}`);
  db.run("pragma ignore_check_constraints = on");
  for (const statement of statements) db.run(statement);
  db.close();
}

async function auditedFile(): Promise<AuditedStore & { readonly path: string }> {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  // Opened for each audit, as a command does: it reads pages ahead where there is a log by then.
  async function withAudit<T>(use: (audit: ReturnType<typeof openAudit>) => Promise<T>): Promise<T> {
    const opened = openAudit({ path: file.path });
    try {
      return await use(opened);
    } finally {
      opened.stop();
    }
  }
  const examine = (depth?: AuditDepth) => withAudit((opened) => opened.examine(depth));
  const keep: AuditedStore["keep"] = (seals) => withAudit((opened) => opened.keep(seals));
  return {
    ...{ store, path: file.path, keep },
    // Also checks what could be sealed.
    audit: async (depth) => (await examine(depth)).report,
    async seal(depth, keeps = true) {
      const outcome = await examine(depth);
      if (keeps) await keep(outcome.seals);
      return outcome;
    },
    // The next number follows the highest one.
    numberOn: async () => {},
    tamper: async (...statements) => tamper(file.path, ...statements),
    async stop() {
      await store.stop();
      file.remove();
    },
  };
}

describeAudit("the audit of SQLite", auditedFile);
describeSeals("seals of SQLite", auditedFile);

describe("while an audit reads one page after the other", () => {
  const SEALED_ROW = `update task set charged_micros = 39999 where id = '${taskId(1)}'`;
  const BALANCE = `update account set balance_micros = balance_micros + 1 where id = '${PREPAID}'`;
  const LIVE_ROW = `delete from ledger_entry where ${entryOf(4, "hold")}`;

  /** Audits books whose first tasks have a page of their own, once for each statement, before which something is written. */
  async function auditEach(
    write: (audited: AuditedStore) => Promise<unknown>,
    look: (audited: AuditedStore, outcome: AuditOutcome) => Promise<void>,
    prepare: readonly string[] = [],
  ): Promise<void> {
    for (let before = 0, isWritten = true; isWritten; before += 1) {
      const audited = await auditedFile();
      await sealBooks(audited);
      await audited.tamper(...prepare);
      const db = openForReading(audited.path);
      let statements = 0;
      const { examine } = prepareAudit(db, async () => {
        if (statements === before) await write(audited);
        statements += 1;
      });
      const outcome = await examine();
      isWritten = statements > before;
      if (isWritten) await look(audited, outcome);
      else expect(before).toBeGreaterThan(2);
      db.stop();
      await audited.stop();
    }
  }

  const PAGES = [
    ["of sealed pages", []],
    ["of pages without seals", ["delete from audit_seal"]],
  ] as const;

  describe.each(PAGES)("%s", (_, prepare) => {
    const agrees = async ({ audit, keep }: AuditedStore, { report, seals }: AuditOutcome) => {
      expect(report.differences).toEqual([]);
      await keep(seals);
      expect((await audit()).differences).toEqual([]);
    };

    test("what retention removes and sums up makes no difference, whenever it is", () =>
      auditEach(
        async ({ store }) => {
          await store.retention.remove(taskId(1), NOW, PREPAID);
          await store.retention.sumUp([taskId(1)]);
        },
        agrees,
        prepare,
      ));

    test("nor do refunds, credits, ends and new tasks", () =>
      auditEach(
        async ({ store }) => {
          await store.accounts.refund(taskId(1), micros(20_000), "again", byHand(NOW));
          await store.accounts.credit(PREPAID, micros(1_000), "more", byHand(NOW));
          await store.tasks.requestCancel(taskId(4), PREPAID, NOW);
          await endOne(store, "completed");
          await store.tasks.admit({ task: newTask({ number: 6, accountId: PREPAID }), assets: [] });
        },
        agrees,
        prepare,
      ));

    test.each([
      ["a balance", "account_balance", BALANCE],
      ["an entry of a live task", "task_hold", LIVE_ROW],
    ])("%s that becomes wrong is found, whenever it does", (_, check, statement) =>
      auditEach(
        ({ tamper }) => tamper(statement),
        async (_, { report, seals }) => {
          expect(report.differences.map((each) => each.check)).toContain(check as never);
          expect(seals).toEqual([]);
        },
        prepare,
      ),
    );
  });

  test("a sealed row that becomes another one is found by this audit or the next one", () =>
    auditEach(
      ({ tamper }) => tamper(SEALED_ROW),
      async ({ audit }, { report }) => {
        const found = [...report.differences, ...(await audit()).differences];
        expect(found.map(({ check }) => check)).toContain("sealed_tasks");
      },
    ));

  test("the log can be emptied: nothing is held between pages", async () => {
    const audited = await auditedFile();
    await sealBooks(audited);
    const db = openForReading(audited.path);
    const checkpoints: number[] = [];
    const { examine } = prepareAudit(db, async () => {
      await audited.tamper("update account set name = name || '.'", "pragma wal_checkpoint(truncate)");
      checkpoints.push(statSync(`${audited.path}-wal`).size);
    });
    expect((await examine()).report.differences).toEqual([]);
    expect([checkpoints.length > 3, Math.max(...checkpoints)]).toEqual([true, 0]);
    db.stop();
    await audited.stop();
  });
});

test("without a log all is read in one moment, and the same is found and sealed", async () => {
  const audited = await auditedFile();
  const { seals } = await sealBooks(audited);
  await audited.tamper("delete from audit_seal");
  const db = openForReading(audited.path);
  const atOnce = prepareAudit(db);
  expect((await atOnce.examine()).seals).toEqual(seals);
  await audited.tamper(`update task set charged_micros = 39999 where id = '${taskId(1)}'`);
  expect((await atOnce.examine()).report).toEqual(await audited.audit());
  expect((await audited.audit()).differences).not.toEqual([]);
  db.stop();
  await audited.stop();
});

describe("the audit of a file", () => {
  let file: ReturnType<typeof migratedFile>;
  let store: Store;

  beforeEach(async () => {
    file = migratedFile();
    store = openStore({ path: file.path });
    await keepBooks(store);
  });
  afterEach(async () => {
    await store.stop();
    file.remove();
  });

  test("looks at one moment, while a server writes on, and holds up none of its writes", async () => {
    const opened = openAudit({ path: file.path });
    const writing = admit(store, { number: 6, keyId: keyId(2) });
    expect((await opened.run()).differences).toEqual([]);
    await writing;
    expect(await opened.run()).toMatchObject({ rows: { tasks: 6 }, differences: [] });
    opened.stop();
  });

  test("reads what a process that was killed left in its log", async () => {
    const copy = migratedFile();
    for (const end of ["", "-wal"]) await Bun.write(`${copy.path}${end}`, Bun.file(`${file.path}${end}`));
    const opened = openAudit({ path: copy.path });
    expect(await opened.run()).toMatchObject({ rows: { tasks: 5 }, differences: [] });
    opened.stop();
    copy.remove();
  });

  test("changes nothing, and cannot", async () => {
    const opened = openAudit({ path: file.path });
    const db = new Database(file.path);
    const before = db.query("pragma data_version").values();
    await opened.run();
    expect(db.query("pragma data_version").values()).toEqual(before);
    db.close();
    opened.stop();
  });

  test("a database that is missing or of another version is refused", () => {
    expect(() => openAudit({ path: `${file.path}.none` })).toThrow(
      expect.objectContaining({ name: "StorageError" }),
    );
    tamper(file.path, "delete from schema_migration where number = 3");
    expect(() => openAudit({ path: file.path })).toThrow(expect.objectContaining({ kind: "pending" }));
  });
});
