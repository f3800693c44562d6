import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { AccountId } from "../../../src/domain/ids.ts";
import { prepareLedgerReads } from "../../../src/store/sqlite/account-store/ledger-reads.ts";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { nextTurn } from "../../../src/toolkit/next-turn.ts";

const BUSY = "acc_busy" as AccountId;
const QUIET = "acc_quiet" as AccountId;
/** So few that the busy account's pages take several slices, and the quiet one's are read by its index. */
const AT_ONCE = 4;

/** Credits of 1, 2, 3 and so on: the quiet account has every seventh. */
function withCredits(count: number) {
  const connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
  const open = connection.db.prepare(
    `insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
     values (?1, ?1, 'prepaid', 'active', 0, 0, 1)`,
  );
  for (const account of [BUSY, QUIET]) open.run(account);
  connection.db.run("insert into label (text) values ('')");
  const put = connection.db.prepare(
    `insert into ledger_entry (account_number, kind, balance_delta_micros, held_delta_micros, reason_label, actor_label, at)
     values ((select number from account where id = ?), 'credit', ?, 0, 1, 1, 1)`,
  );
  const pay = connection.db.prepare("update account set balance_micros = balance_micros + ?2 where id = ?1");
  const credit = (amount: number) => {
    const account = amount % 7 === 0 ? QUIET : BUSY;
    put.run(account, amount);
    pay.run(account, amount);
  };
  for (let amount = 1; amount <= count; amount++) credit(amount);
  return { connection, credit, page: prepareLedgerReads(connection, AT_ONCE).page };
}

/** Makes one entry of the busy account's first and eighth, in the place of the eighth. */
function sumUpFirst(db: Database): void {
  db.run("drop trigger ledger_entry_is_not_removed");
  db.run("delete from ledger_entry where id in (1, 8)");
  db.run(
    `insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, entries, reason_label, actor_label)
     select 8, number, 'capture', 9, 0, 1, 2, 1, 1 from account where id = 'acc_busy'`,
  );
}

/** The amounts of an account's credits before a row, newest first, each with the balance after it. */
function expected(account: AccountId, count: number, before: number): number[][] {
  const amounts = Array.from({ length: count }, (_, i) => i + 1).filter(
    (n) => (n % 7 === 0) === (account === QUIET),
  );
  const after = (amount: number) => amounts.filter((n) => n <= amount).reduce((sum, n) => sum + n, 0);
  return amounts
    .filter((n) => n < before)
    .map((n) => [n, n, after(n)])
    .reverse();
}

test("every page of a ledger has its rows and balances, through slices and by the account's index", async () => {
  const { connection, page } = withCredits(26);
  for (const account of [BUSY, QUIET]) {
    for (let before = 1; before <= 28; before++) {
      for (const limit of [1, 3, 30]) {
        const rows = await page(account, { limit, before });
        const read = rows.map((row) => [row.number, row.balanceDelta, row.balance].map(Number));
        expect(read).toEqual(expected(account, 26, before).slice(0, limit));
      }
    }
  }
  await connection.stop();
});

test("the pages of a ledger, one after the other, pass over no row of an earlier page again", async () => {
  const { connection } = withCredits(200);
  let looks = 0;
  const look: typeof connection.look = (reading) => {
    looks++;
    return connection.look(reading);
  };
  const { page } = prepareLedgerReads({ ...connection, look }, AT_ONCE);
  const read: number[][] = [];
  let most = 0;
  for (let before: number | undefined; ; ) {
    looks = 0;
    const rows = await page(BUSY, { limit: 3, before });
    if (before !== undefined) most = Math.max(most, looks);
    read.push(...rows.slice(0, 2).map((row) => [row.number, row.balanceDelta, row.balance].map(Number)));
    // As `svc ledger` does: one more row tells whether there is another page.
    before = rows[1]?.number;
    if (rows.length < 3) break;
  }
  expect(read).toEqual(expected(BUSY, 200, 201));
  expect(most).toBeLessThan(10);
  await connection.stop();
});

test("a page after others tells other balances when entries became a sum that lies elsewhere", async () => {
  const { connection, page } = withCredits(26);
  const [, last] = await page(BUSY, { limit: 2, before: 7 });
  sumUpFirst(connection.db);
  const rows = await page(BUSY, { limit: 2, before: last?.number });
  expect(rows.map((row) => [row.number, Number(row.balance)])).toEqual([
    [4, 9],
    [3, 5],
  ]);
  await connection.stop();
});

test("a page is of the moment at which it was asked for, and lets others have their turn", async () => {
  const { connection, credit, page } = withCredits(26);
  const reading = page(BUSY, { limit: 2, before: 5 });
  setImmediate(() => credit(27));
  const rows = await reading;
  expect(rows.map((row) => [row.number, Number(row.balance)])).toEqual([
    [4, 10],
    [3, 6],
  ]);
  const [latest] = await page(BUSY, { limit: 1 });
  expect(latest?.number).toBe(27);
  await connection.stop();
});

test("a page is read anew when entries become a sum meanwhile, which lies elsewhere", async () => {
  const { connection, page } = withCredits(26);
  const reading = page(BUSY, { limit: 2, before: 5 });
  // By then the place of the sum is passed.
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  sumUpFirst(connection.db);
  const rows = await reading;
  expect(rows.map((row) => [row.number, Number(row.balance)])).toEqual([
    [4, 9],
    [3, 5],
  ]);
  await connection.stop();
});
