import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type { AccountId } from "../../../src/domain/ids.ts";
import type { LedgerRow } from "../../../src/domain/ports/account-store.ts";
import { prepareLedgerPage } from "../../../src/store/postgres/account-store/ledger-reads.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { type Asked, noting, walkedBy } from "../../helpers/plans.ts";
import { openEmptyPostgres, removePostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const ENTRIES = 60_000;
const LIMIT = 100;
const BUSY = "acct_1" as AccountId;
const QUIET = "acct_7" as AccountId;

/** The busy account has two thirds of all entries, and a quiet one a few. Each entry is a credit of one. */
const SEED = `begin;
  set local session_replication_role = replica;
  insert into account (number, id, name, mode, status, balance_micros, held_micros, created_at)
    select i, 'acct_' || i, 'account ' || i, 'prepaid', 'active', 0, 0, 0 from generate_series(1, 1000) as i;
  insert into label (number, text) overriding system value select 1000000 + i, 'text ' || i from generate_series(1, 5000) as i;
  insert into ledger_entry (account_number, kind, balance_delta_micros, held_delta_micros, at, reason_label, actor_label)
    select case when i % 3 = 0 then 1 + i % 1000 else 1 end, 'credit', 1, 0, i, 1000001, 1000002 from generate_series(1, ${ENTRIES}) as i;
  update account set balance_micros = (select count(*) from ledger_entry where account_number = number);
  commit`;

describe.skipIf(!CAN_TEST_POSTGRES)("pages of a long ledger", () => {
  const asked: Asked[] = [];
  let connection: Connection;
  let sql: SQL;
  let page: ReturnType<typeof prepareLedgerPage>;

  beforeAll(async () => {
    await (await openEmptyPostgres()).stop();
    const url = await urlOfPostgres();
    connection = openConnection({ url });
    sql = new SQL({ url, max: 1 });
    await sql.unsafe(SEED);
    await sql.unsafe("vacuum analyze");
    page = prepareLedgerPage({
      readAtOnce: (query) => connection.readAtOnce((session) => query(noting(session, asked))),
    });
  }, 120_000);
  afterAll(async () => {
    await connection.stop();
    await sql.close();
    await removePostgres();
  });

  for (const account of [BUSY, QUIET])
    test(`pass over no row of an earlier page, of ${account}`, async () => {
      asked.length = 0;
      const rows: LedgerRow[] = [];
      for (let pages = 0; pages < 5; pages++)
        rows.push(...(await page(account, { limit: LIMIT, before: rows.at(-1)?.number })));
      const [{ balance }] =
        await sql`select balance_micros::int as balance from account where id = ${account}`;
      const last = Math.min(5 * LIMIT, balance);
      expect(rows.map((row) => Number(row.balance))).toEqual(
        Array.from({ length: last }, (_, i) => balance - i),
      );
      for (const kind of ["custom", "generic"] as const)
        for (const each of asked) {
          const { read, scanned } = await walkedBy(sql, each, kind, ["task"]);
          // Each entry, its account and the texts of two labels.
          expect([each.text, scanned, read <= 4 * LIMIT + 9]).toEqual([each.text, [], true]);
        }
    }, 60_000);

  test("have the right balances after entries became a sum", async () => {
    const [newest] = await page(QUIET, { limit: 1 });
    const before = newest?.number ?? 0;
    await sql.unsafe(`begin; set local session_replication_role = replica;
      update ledger_entry set entries = 2, balance_delta_micros = 2 where id = ${before};
      delete from ledger_entry where id = (select min(id) from ledger_entry where account_number = 7); commit`);
    const [{ balance }] = await sql`select balance_micros::int as balance from account where id = ${QUIET}`;
    expect((await page(QUIET, { limit: 1, before })).map((row) => Number(row.balance))).toEqual([
      balance - 2,
    ]);
  });
});
