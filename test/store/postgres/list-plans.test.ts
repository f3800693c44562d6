import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type { AccountId, KeyId } from "../../../src/domain/ids.ts";
import { createAccountStore } from "../../../src/store/postgres/account-store.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { expired } from "../../../src/store/postgres/retention-store/expiry.ts";
import type { Session } from "../../../src/store/postgres/session.ts";
import { type Asked, noting, walkedBy } from "../../helpers/plans.ts";
import { openEmptyPostgres, removePostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const MANY = 20_000;
const LIMIT = 100;
const numbered = <Id extends string>(kind: string, number: number) =>
  `${kind}_${String(number).padStart(12, "0")}` as Id;
const id = (kind: string) => `'${kind}_' || lpad(i::text, 12, '0')`;

/** One account in ten has one key, and the first has all others. Some names are those of many keys, all revoked or none. */
const SEED = [
  "set local session_replication_role = replica",
  // On a busy machine, more time may pass between two statements than a service may take.
  "set local idle_in_transaction_session_timeout = 0",
  `insert into account (number, id, name, mode, status, balance_micros, held_micros, created_at, low_balance_micros, retain_tasks_sec)
     select i, ${id("acct")}, 'account ' || i, 'prepaid', 'active', 0, 0, 0, case when i % 1000 = 0 then 5 end,
       case when i % 1000 = 0 then i end from generate_series(1, ${MANY}) as i`,
  `insert into api_key (id, account_id, name, hash, display, created_at, revoked_at, policy)
     select ${id("key")}, 'acct_' || lpad((case when i % 10 = 0 then i else 1 end)::text, 12, '0'), case when i % 50 < 5 or i % 10 = 0 then 'name ' || i % 50 else 'own name ' || i end, 'hash ' || i, '', 0,
       case when i % 50 < 5 then i end, case when i % 1000 = 0 then '{"retainSec":9}' when i % 200 = 7 then '{"quota":{"limit":9,"reset":"total"}}' else '{}' end from generate_series(1, ${MANY}) as i`,
  `insert into management_token (id, name, hash, display, created_at, revoked_at, scopes)
     select ${id("tok")}, 'token ' || i % 50, 'hash ' || i, '', 0, i, '["read"]' from generate_series(1, ${MANY}) as i`,
];

async function seed(session: Session): Promise<void> {
  for (const text of SEED) await session.ask(text, []);
}

async function askAll(connection: Connection): Promise<void> {
  // No statement of these writes to the ledger or watches for changes.
  const nothing = undefined as never;
  const watch = { onChange: () => {} } as never;
  const { accounts, keys, tokens, ...store } = createAccountStore(connection, { ledger: nothing, watch });
  for (const after of [undefined, 15_000]) {
    const page = <Id extends string>(kind: string) => ({
      limit: LIMIT,
      after: after === undefined ? undefined : numbered<Id>(kind, after),
    });
    expect(await accounts(page("acct"))).toHaveLength(LIMIT);
    expect(await keys(page("key"))).toHaveLength(LIMIT);
    expect(await keys({ ...page("key"), account: numbered<AccountId>("acct", 1) })).toHaveLength(LIMIT);
    expect((await keys({ ...page("key"), account: numbered<AccountId>("acct", 16_000) })).length).toBe(1);
    expect(await tokens(page("tok"))).toHaveLength(LIMIT);
    const order = "desc";
    expect(await accounts({ ...page("acct"), order })).toHaveLength(LIMIT);
    expect(await keys({ ...page("key"), order })).toHaveLength(LIMIT);
    expect(await keys({ ...page("key"), order, account: numbered<AccountId>("acct", 1) })).toHaveLength(
      LIMIT,
    );
    expect(await tokens({ ...page("tok"), order })).toHaveLength(LIMIT);
  }
  const isLimited = true;
  for (const account of [undefined, numbered<AccountId>("acct", 1)])
    for (const order of ["asc", "desc"] as const)
      expect(await keys({ limit: LIMIT, account, isLimited, order })).toHaveLength(MANY / 200);
  expect(await keys({ limit: LIMIT, account: numbered<AccountId>("acct", 16_000), isLimited })).toEqual([]);
  for (const name of ["name 1", "name 20", "none"]) await store.keysNamed(name, 11);
  await store.key("name 20");
  expect((await store.revokedToken("token 3"))?.id).toBe(numbered("tok", 19_953));
  const some = Array.from({ length: LIMIT }, (_, i) => i * 17 + 1);
  expect((await store.accountNames(some.map((i) => numbered<AccountId>("acct", i)))).size).toBe(LIMIT);
  expect((await store.keyNames(some.map((i) => numbered<KeyId>("key", i)))).size).toBe(LIMIT);
  expect(await store.lowAccounts()).toHaveLength(MANY / 1000);
  for (const kind of ["outputs", "inputs", "callbacks", "tasks"] as const)
    await connection.read((session) =>
      expired(session, { endedBefore: 0, now: 0, after: 0, limit: 50, kind }),
    );
}

describe.skipIf(!CAN_TEST_POSTGRES)("lists of accounts, keys and tokens, where there are many", () => {
  const asked: Asked[] = [];
  let connection: Connection;
  let sql: SQL;

  beforeAll(async () => {
    await removePostgres();
    await (await openEmptyPostgres()).stop();
    const url = await urlOfPostgres();
    connection = openConnection({ url });
    await connection.write(seed);
    sql = new SQL({ url, max: 1 });
    await sql.unsafe("vacuum analyze");
    await askAll({
      ...connection,
      read: (query) => connection.read((session) => query(noting(session, asked))),
    });
  }, 300_000);
  afterAll(async () => {
    await connection.stop();
    await sql.close();
    await removePostgres();
  });

  for (const kind of ["custom", "generic"] as const)
    test(`read no more than they return, with a ${kind} plan`, async () => {
      expect(asked.length).toBeGreaterThan(20);
      // There are no tasks here.
      for (const each of asked.filter(({ text }) => !text.includes("from task"))) {
        const { scanned, read } = await walkedBy(sql, each, kind, []);
        // Names are two rows each: one that is asked for, and one that is found.
        expect([each.text, scanned, read <= 2 * LIMIT + 50]).toEqual([each.text, [], true]);
      }
    }, 60_000);
});
