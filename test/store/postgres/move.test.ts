import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { openAudit } from "../../../src/store/audit.ts";
import { moveToPostgres, moveToSqlite } from "../../../src/store/move/open.ts";
import { unfinishedPath } from "../../../src/store/move/sqlite-target.ts";
import { movedTables } from "../../../src/store/move/tables.ts";
import { openStore } from "../../../src/store/open.ts";
import { openStore as openPostgresStore } from "../../../src/store/postgres/open.ts";
import { keepBooks } from "../../contracts/audit.ts";
import { filledRows, insertRows, rowsOf } from "../../helpers/filled-rows.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { accountId, bySystem, countingTokens, micros, NOW } from "../../helpers/store.ts";

/** A data folder's database, an empty one of PostgreSQL, and a place for what comes back. */
async function withFolder(
  body: (given: { from: string; url: string; back: string }) => Promise<void>,
): Promise<void> {
  const file = migratedFile();
  try {
    await body({ from: file.path, url: await emptyPostgres(), back: `${file.path}.back` });
  } finally {
    file.remove();
  }
}

async function books(path: string): Promise<void> {
  const store = openStore({ path });
  await keepBooks(store);
  await store.stop();
}

function write(path: string, ...statements: readonly string[]): void {
  using db = new Database(path);
  for (const statement of statements) db.run(statement);
}

async function audited(path: string) {
  const audit = openAudit({ path });
  try {
    return await audit.run("full");
  } finally {
    audit.stop();
  }
}

/** More rows than one transaction takes, of tables with a number, a text and several columns for a key. */
const MANY = [
  `with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
   insert into label (text) select 'label ' || i from n`,
  `with recursive n (i) as (select 1 union all select i + 1 from n where i < 4100)
   insert into usage_day select (select min(id) from account), i / 7, 'key ' || (i % 7), 'model', 1, 0, 0, 0, 0 from n`,
  `with recursive n (i) as (select 1 union all select i + 1 from n where i < 4100)
   insert into idempotency (digest, fingerprint, task_id, held_micros, expires_at)
   select unhex(printf('%032x', i % 3000)), 'print', 'task ' || i, 0, i from n`,
];

const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Moves in a process of its own, which is killed after so many slices. */
async function killedAfter(slices: number, way: "there" | "back", from: string, to: string): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "move-child.ts"), way, from, to], {
    stdout: "pipe",
  });
  let count = 0;
  for await (const chunk of child.stdout) {
    count += new TextDecoder().decode(chunk).split("\n").length - 1;
    if (count >= slices) child.kill("SIGKILL");
  }
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
}

test("every table of SQLite moves but those that a database makes by itself", () => {
  const file = migratedFile();
  const db = new Database(file.path);
  const tables = db.query<{ name: string }, []>("select name from sqlite_schema where type = 'table'").all();
  const moved = new Set(movedTables().map(({ name }) => name));
  const left = tables.flatMap(({ name }) =>
    moved.has(name) || name.startsWith("task_search") ? [] : [name],
  );
  expect(left.toSorted()).toEqual([
    ...["audit_seal", "idempotency_index", "idempotency_merge"],
    ...["migration_step", "schema_migration", "search_state"],
  ]);
  db.close();
  file.remove();
});

describe.skipIf(!CAN_TEST_POSTGRES)("moving between SQLite and PostgreSQL", () => {
  afterAll(stopPostgres);

  test("a row of every table with every column filled comes back as it left", async () => {
    await fc.assert(
      fc.asyncProperty(filledRows(), (rows) =>
        withFolder(async ({ from, url, back }) => {
          insertRows(from, rows);
          const before = rowsOf(from);
          for (const [table, of] of Object.entries(before)) {
            const [row] = of;
            expect([table, Object.values(row ?? { none: null }).includes(null)]).toEqual([table, false]);
          }
          const there = await moveToPostgres({ from, to: url });
          expect(there.audit).toEqual(await audited(from));
          const again = await moveToSqlite({ from: url, to: back });
          expect(again.audit).toEqual(there.audit);
          expect(rowsOf(back)).toEqual(before);
        }),
      ),
      { numRuns: 5 },
    );
  });

  test("a move that was cut off before the file got its name goes on there", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      await moveToPostgres({ from, to: url });
      const first = await moveToSqlite({ from: url, to: back });
      // Nothing but its name is what it was then.
      renameSync(back, unfinishedPath(back));
      expect(await moveToSqlite({ from: url, to: back })).toEqual(first);
      expect(rowsOf(back)).toEqual(rowsOf(from));
      // Nor is a file of other rows taken for these.
      renameSync(back, unfinishedPath(back));
      write(unfinishedPath(back), "update account set balance_micros = balance_micros + 1");
      expect(await failed(moveToSqlite({ from: url, to: back }))).toMatchObject({ kind: "differs" });
    }));

  test("many rows come in slices, each once, and what is counted goes on after them", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      write(from, ...MANY);
      const told: string[] = [];
      const { tables } = await moveToPostgres({ from, to: url, tell: ({ table }) => void told.push(table) });
      expect(told.filter((table) => table === "usage_day")).toHaveLength(3);
      expect(tables.find(({ table }) => table === "idempotency")?.rows).toBe(3_000);
      const store = await openPostgresStore({ url, ids: countingTokens() });
      const created = {
        id: accountId(9),
        name: "new",
        mode: "prepaid",
        credit: micros(5),
        createdAt: NOW,
      } as const;
      expect(await store.accounts.createAccount(created, bySystem())).toBe("created");
      await store.stop();
      const numbers = await askPostgres(
        `select (select max(number) from account)::int as account, (select max(id) from ledger_entry)::int as entry,
           (select last_value from task_change_number) = (select max(abs(change)) from task) as is_after`,
      );
      expect(numbers).toEqual([{ account: 3, entry: 12, is_after: true }]);
      await moveToSqlite({ from: url, to: back });
      const home = openStore({ path: back });
      expect((await home.accounts.accounts({ limit: 100 })).map(({ id }) => id)).toContain(accountId(9));
      await home.stop();
    }));

  test("tasks that ended before usage was counted are left out of the audit on both sides", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      write(
        from,
        "delete from usage_day",
        "update schema_migration set applied_at = 0 where number = 1",
        "update schema_migration set applied_at = 90000000 where number = 2",
      );
      expect((await moveToPostgres({ from, to: url })).audit.differences).toEqual([]);
      expect((await moveToSqlite({ from: url, to: back })).audit.differences).toEqual([]);
    }));

  test("a move that is killed goes on where it was, and nobody serves what is not whole", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      write(from, ...MANY);
      const before = rowsOf(from);
      await killedAfter(9, "there", from, url);
      expect(await failed(openPostgresStore({ url, ids: countingTokens() }))).toMatchObject({
        kind: "unfinished",
      });
      const first: string[] = [];
      await moveToPostgres({ from, to: url, tell: ({ table }) => void first.push(table) });
      expect(first).not.toContain("account");
      await killedAfter(9, "back", url, back);
      expect([existsSync(back), existsSync(unfinishedPath(back))]).toEqual([false, true]);
      await moveToSqlite({ from: url, to: back });
      expect([existsSync(back), existsSync(unfinishedPath(back))]).toEqual([true, false]);
      const { idempotency, ...others } = before;
      const { idempotency: records, ...rest } = rowsOf(back);
      expect(rest).toEqual(others);
      expect(records).toHaveLength(3_000);
      expect(idempotency).toHaveLength(4_100);
    }));

  test("a move that ended is told again, and another one into its database is refused", () =>
    withFolder(async ({ from, url }) => {
      await books(from);
      const moved = await moveToPostgres({ from, to: url });
      expect(await moveToPostgres({ from, to: url })).toEqual(moved);
      const other = migratedFile();
      write(other.path, "update schema_migration set applied_at = 5 where number = 1");
      expect(await failed(moveToPostgres({ from: other.path, to: url }))).toMatchObject({ kind: "another" });
      other.remove();
    }));

  test("a database whose rows went back to a folder is neither served nor moved elsewhere, and says where they are", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      await moveToPostgres({ from, to: url });
      const cutOff = moveToSqlite({
        ...{ from: url, to: back },
        beforeServed: () => Promise.reject(new Error("The disk is full.")),
      });
      expect(await failed(cutOff)).toMatchObject({ message: "The disk is full." });
      // Nothing has left yet.
      await (await openPostgresStore({ url, ids: countingTokens() })).stop();
      await moveToSqlite({ from: url, to: back });
      const refused = await failed(openPostgresStore({ url, ids: countingTokens() }));
      expect(refused).toMatchObject({ kind: "moved", message: expect.stringContaining(dirname(back)) });
      // As if it had been killed before it could say that it has ended.
      const ended = { message: expect.stringContaining(`All rows came to ${back} before.`) };
      expect(await failed(moveToSqlite({ from: url, to: back }))).toMatchObject(ended);
      const elsewhere = join(dirname(back), "elsewhere", "svc.db");
      expect(await failed(moveToSqlite({ from: url, to: elsewhere }))).toMatchObject({ kind: "another" });
      expect(await failed(moveToPostgres({ from: back, to: url }))).toMatchObject({ kind: "another" });
    }));

  test("a move that is cut off once the database was left is repeated to the same folder", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      await moveToPostgres({ from, to: url });
      const [left] = await askPostgres(
        `insert into move_progress (name, last_key, rows, is_done) values ('away', '${dirname(back)}', 0, 1) returning name`,
      );
      expect(left).toEqual({ name: "away" });
      const { audit } = await moveToSqlite({ from: url, to: back });
      expect(audit).toEqual(await audited(back));
    }));

  test("a node that began while rows were moved away ends the move, and goes on serving", () =>
    withFolder(async ({ from, url, back }) => {
      await books(from);
      await moveToPostgres({ from, to: url });
      const began = () =>
        askPostgres(
          `insert into node (id, name, role, version, started_at, seen_at, is_draining)
           select 'late', 'late', 'all', '1', at, at, 0 from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as at) as now`,
        ).then(() => {});
      expect(await failed(moveToSqlite({ from: url, to: back, beforeServed: began }))).toMatchObject({
        kind: "in_use",
      });
      expect(existsSync(back)).toBe(false);
      await (await openPostgresStore({ url, ids: countingTokens() })).stop();
    }));

  test("a database with rows, or one that is served, is refused, and a file that is there", () =>
    withFolder(async ({ from, url, back }) => {
      await askPostgres("insert into label (text) values ('own')");
      expect(await failed(moveToPostgres({ from, to: url }))).toMatchObject({ kind: "not_empty" });
      await askPostgres(
        `insert into node select 'n', 'one', 'all', '1', 0, extract(epoch from clock_timestamp()) * 1000, 0`,
      );
      const inUse = { kind: "in_use", message: expect.stringContaining("one") };
      expect(await failed(moveToPostgres({ from, to: url }))).toMatchObject(inUse);
      expect(await failed(moveToSqlite({ from: url, to: back }))).toMatchObject(inUse);
      expect(await failed(moveToSqlite({ from: url, to: from }))).toMatchObject(inUse);
      await askPostgres("delete from node");
      expect(await failed(moveToSqlite({ from: url, to: from }))).toMatchObject({ kind: "not_empty" });
    }));

  test("a text that PostgreSQL cannot have is told by its place", () =>
    withFolder(async ({ from, url }) => {
      await books(from);
      write(from, "update account set name = 'a' || char(0) || 'b' where number = 2");
      expect(await failed(moveToPostgres({ from, to: url }))).toMatchObject({
        kind: "unstorable",
        message: expect.stringContaining("name of account has where number is 2"),
      });
    }));

  test("what was written to the source meanwhile is noticed, and the target is not served", () =>
    withFolder(async ({ from, url }) => {
      await books(from);
      const tell = ({ table }: { table: string }) => {
        if (table === "usage_day") write(from, "insert into label (text) values ('late')");
      };
      expect(await failed(moveToPostgres({ from, to: url, tell }))).toMatchObject({ kind: "differs" });
      expect(await failed(openPostgresStore({ url, ids: countingTokens() }))).toMatchObject({
        kind: "unfinished",
      });
    }));
});
