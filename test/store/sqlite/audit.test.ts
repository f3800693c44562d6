import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { describeAudit, keepBooks } from "../../contracts/audit.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { admit, keyId } from "../../helpers/store.ts";

function tamper(path: string, ...statements: readonly string[]): void {
  const db = new Database(path);
  for (const trigger of ["ledger_entry_is_not_changed", "ledger_entry_is_not_removed", "task_end_is_final"])
    db.run(`drop trigger ${trigger}`);
  db.run("pragma ignore_check_constraints = on");
  for (const statement of statements) db.run(statement);
  db.close();
}

describeAudit("the audit of SQLite", async () => {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  return {
    store,
    async audit() {
      const opened = openAudit({ path: file.path });
      try {
        return await opened.run();
      } finally {
        opened.stop();
      }
    },
    tamper: async (...statements) => tamper(file.path, ...statements),
    async stop() {
      await store.stop();
      file.remove();
    },
  };
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
