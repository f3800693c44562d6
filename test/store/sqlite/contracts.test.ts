import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSeal } from "../../../src/runtime/seal.ts";
import { openAudit } from "../../../src/store/audit.ts";
import { checkDatabase } from "../../../src/store/check.ts";
import { emptyLog } from "../../../src/store/checkpoint.ts";
import { contentsOf, copyDatabase, describeDatabase, namedOf } from "../../../src/store/copy.ts";
import { openInspection } from "../../../src/store/inspection.ts";
import { readNames } from "../../../src/store/names.ts";
import { openStore } from "../../../src/store/open.ts";
import { openReclaimable } from "../../../src/store/reclaimable-reading.ts";
import { openRestored } from "../../../src/store/restored.ts";
import { readStock } from "../../../src/store/stock-reading.ts";
import { vacuumDatabase } from "../../../src/store/vacuum.ts";
import { describeAccountLists } from "../../contracts/account-lists.ts";
import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeAccountMoney } from "../../contracts/account-store-money.ts";
import { describeBookSums } from "../../contracts/book-sums.ts";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { describeChoiceStore } from "../../contracts/choice-store.ts";
import { describeImportStore } from "../../contracts/import-store.ts";
import { describePriceStore } from "../../contracts/price-store.ts";
import { describeRetentionStore } from "../../contracts/retention-store.ts";
import { describeSearch } from "../../contracts/search-store.ts";
import { describeSessionStore } from "../../contracts/session-store.ts";
import { describeTaskStore } from "../../contracts/task-store.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { describeTimeStore } from "../../contracts/time-store.ts";
import { describeTrailStore } from "../../contracts/trail-store.ts";
import { describeUploadStore } from "../../contracts/upload-store.ts";
import { migratedFile, openEmptyStore } from "../../helpers/open-store.ts";
import { walksOf, watchStatements } from "../../helpers/statements.ts";
import { countingTokens } from "../../helpers/store.ts";
import { ALLOWED, type AllowedWalk, FEW } from "./walks.ts";

const open = () => openEmptyStore();
const statements = watchStatements();

describeTaskStore("tasks in SQLite", open);
describeAccountStore("accounts in SQLite", open);
describeAccountLists("lists of accounts in SQLite", open);
describeAccountMoney("money of accounts in SQLite", open);
describeBookSums("sums of the books in SQLite", open);
describeRetentionStore("what goes from SQLite", open);
describePriceStore("prices in SQLite", open);
describeImportStore("what other gateways had, in SQLite", open);
describeCallbackStore("callbacks in SQLite", open);
describeSessionStore("sessions in SQLite", open);
describeTimeStore("times in SQLite", open);
describeTrailStore("the trail in SQLite", open);
describeChoiceStore("choices of keys in SQLite", open);
describeSearch("prompts in SQLite", open);
describeUsage("usage in SQLite", open);
describeUploadStore("uploaded files in SQLite", open);

/** Files of the store that give statements to a database, from what they say. */
function filesWithStatements(): string[] {
  const folder = join(import.meta.dir, "../../../src/store");
  return (
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      // The statements of PostgreSQL have tests of their own.
      .filter((file) => !file.startsWith("postgres/"))
      // A move reads and writes whole tables, while no service runs.
      .filter((file) => !file.startsWith("move/"))
      // What runs while the executable is built is none.
      .filter((file) => !file.endsWith("built-in-schema.ts"))
      .filter((file) =>
        /\.(prepare|query|run)[<(]|\borm\b\s*\./.test(readFileSync(join(folder, file), "utf8")),
      )
      .map((file) => file.slice(0, -".ts".length))
  );
}

/** Runs what no contract does: a check of the books, names for a shell, and the start of a store that seals secrets. */
async function runTheRest(path: string): Promise<void> {
  const audit = openAudit({ path });
  await audit.run();
  audit.stop();
  readStock({ path });
  const reclaimable = openReclaimable({ path, isInUse: true });
  reclaimable.files(0, 9);
  reclaimable.callbacks(0, 9);
  reclaimable.freePages();
  reclaimable.stop();
  for (const of of ["key", "account", "token"] as const) readNames(path, of, 9);
  checkDatabase({ path });
  vacuumDatabase({ path });
  emptyLog({ path });
  const copy = `${path}.copy`;
  copyDatabase({ path }, copy);
  describeDatabase(copy);
  expect([...contentsOf(copy), ...namedOf({ path }, ["a".repeat(64)])]).toEqual([]);
  const restored = openRestored({ path: copy, ids: countingTokens() });
  expect(await restored.unsent(9, 1)).toEqual([]);
  await restored.stop();
  const seal = createSeal({ key: "k".repeat(43), file: "unused" });
  const inspection = openInspection({ path, isInUse: true });
  inspection.inspect({ now: 0, staleBefore: 0, failedSince: 0, expiresBefore: 0 }, seal);
  inspection.faults();
  inspection.stop();
  const { routes, stop } = openStore({ path, seal });
  await routes.troubles();
  await stop();
}

/** The connection of a store whose temporary tables are all there. */
async function openPlanned(path: string) {
  const databases = new Set<Database>();
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database, ...given: Parameters<typeof prepare>) {
    databases.add(this);
    return prepare.apply(this, given);
  } as typeof prepare;
  const store = openStore({ path });
  await Promise.all([store.tasks.lanes(), store.callbacks.owed()]);
  Database.prototype.prepare = prepare;
  const [db] = databases;
  return { db: db!, stop: store.stop };
}

/** Writes statistics: a million rows in each table, a hundred thousand for a value of an index's first column, ten for all of them. */
function writeStatistics(path: string): void {
  using db = new Database(path, { readwrite: true });
  db.run("analyze");
  db.run("delete from sqlite_stat1");
  const insert = db.prepare("insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)");
  const tables = db.query<{ name: string }, []>("select name from sqlite_schema where type = 'table'").all();
  for (const { name: table } of tables)
    for (const { name, unique } of db
      .query<{ name: string; unique: 0 | 1 }, []>(`pragma index_list(${table})`)
      .all()) {
      const columns = db.query(`pragma index_info(${name})`).all();
      const rows = columns.map((_, i) => (i < columns.length - 1 ? 10 ** Math.max(2, 5 - i) : 10));
      insert.run(table, name, [1_000_000, ...(unique === 1 ? rows.with(-1, 1) : rows)].join(" "));
    }
}

/** The statements that may take long on a database, with what does, and the allowances that none of them needed. */
async function walksOn(path: string) {
  const seen = [...statements.seen].map(([sql, files]) => ({
    sql: sql.replace(/\s+/g, " ").trim(),
    files: [...files],
  }));
  const { db, stop } = await openPlanned(path);
  const used = new Set<AllowedWalk>();
  const walks = seen
    .filter(({ sql }) => /^(select|insert|update|delete|with)\b/i.test(sql))
    .flatMap(({ sql, files }) => {
      const found = walksOf(db, sql, FEW);
      if (found.length === 0) return [];
      const allowed = ALLOWED.find(
        ({ file, part = "" }) => files.some((each) => each.startsWith(file)) && sql.includes(part),
      );
      if (allowed === undefined) return [{ files, found, sql }];
      used.add(allowed);
      return [];
    });
  await stop();
  return { walks, unused: ALLOWED.filter((each) => !used.has(each)) };
}

describe("statements", () => {
  let file: ReturnType<typeof migratedFile>;
  beforeAll(async () => {
    file = migratedFile();
    await runTheRest(file.path);
    statements.stop();
  });
  afterAll(() => file.remove());

  test("are known of every file that has some", () => {
    const seen = new Set([...statements.seen.values()].flatMap((files) => [...files]));
    expect(filesWithStatements().filter((name) => !seen.has(name))).toEqual([]);
  });

  test("stop at a limit, pass over no rows and sort none, but for those with a reason", async () => {
    expect(await walksOn(file.path)).toEqual({ walks: [], unused: [] });
  });

  test("do so with the statistics of a large database, too", async () => {
    writeStatistics(file.path);
    expect((await walksOn(file.path)).walks).toEqual([]);
  });
});
