import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { type AuditedStore, describeAudit, keepBooks } from "../../contracts/audit.ts";
import { describeSeals } from "../../contracts/audit-seals.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { admit, keyId } from "../../helpers/store.ts";

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

async function auditedFile(): Promise<AuditedStore> {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  const opened = openAudit({ path: file.path });
  return {
    store,
    audit: opened.run,
    async seal(depth, keeps = true) {
      const outcome = await opened.examine(depth);
      if (keeps) await opened.keep(outcome.seals);
      return outcome;
    },
    keep: opened.keep,
    // The next number follows the highest one.
    numberOn: async () => {},
    tamper: async (...statements) => tamper(file.path, ...statements),
    async stop() {
      opened.stop();
      await store.stop();
      file.remove();
    },
  };
}

describeAudit("the audit of SQLite", auditedFile);
describeSeals("seals of SQLite", auditedFile);

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
