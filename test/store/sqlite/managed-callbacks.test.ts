import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOOKED_AT } from "../../../src/store/sqlite/callback-store/lists.ts";
import { createCallbackStore } from "../../../src/store/sqlite/callback-store.ts";
import { type Connection, openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { ACCOUNT, callbackId, keyId, NOW } from "../../helpers/store.ts";

let connection: Connection;
beforeEach(() => {
  connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
});
afterEach(() => connection.stop());

/** Stores callbacks that were delivered, of which the first alone is of another key and still pending. */
function fill(count: number): void {
  const { db } = connection;
  db.run("pragma foreign_keys = off");
  const insert = db.prepare(
    `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, pool, due_at, attempts, sends,
       redeliver, created_at, event)
     values (?1, ?1, '${ACCOUNT}', ?2, 'req', 'https://a.example/', 'a.example', ?3, ?4, 0, 1, 1, 0, ?5, 'failed')`,
  );
  db.transaction(() => {
    for (let i = 1; i <= count; i++) {
      const isFirst = i === 1;
      insert.run(
        ...([callbackId(i), keyId(isFirst ? 2 : 1), isFirst ? "pending" : "delivered"] as const),
        ...([isFirst ? "waiting" : null, NOW + Math.floor(i / 2)] as const),
      );
    }
  })();
}

test("a page looks at so many callbacks, and the last one at the rest: what matches is found in the end", async () => {
  fill(2 * LOOKED_AT + 1);
  const { managedCallbacks } = createCallbackStore(connection);
  for (const narrow of [{ state: "pending" }, { accountId: ACCOUNT, keyId: keyId(2) }] as const) {
    const filter = { ...narrow, limit: 20 };
    const first = await managedCallbacks(filter);
    expect(first).toEqual({ callbacks: [], next: callbackId(LOOKED_AT + 2) });
    const second = await managedCallbacks({ ...filter, after: first.next });
    expect(second).toEqual({ callbacks: [], next: callbackId(2) });
    const third = await managedCallbacks({ ...filter, after: second.next });
    expect(third.callbacks.map(({ id }) => id)).toEqual([callbackId(1)]);
    expect(third.next).toBeUndefined();
  }
  const all = await managedCallbacks({ limit: 20 });
  expect(all.callbacks).toHaveLength(20);
});

test("no statement sorts or reads the whole table", () => {
  const seen: string[] = [];
  const { prepare } = connection.db;
  connection.db.prepare = ((sql: string) => {
    seen.push(sql);
    return prepare(sql);
  }) as typeof prepare;
  createCallbackStore(connection);
  const plans = seen
    .filter((sql) => sql.includes("(created_at, id) >= (?3, ?4)"))
    .map((sql) =>
      connection.db
        .query<{ detail: string }, []>(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => detail),
    );
  // Each index has a statement that lists, and one that finds where a page ends.
  expect(plans.map(([detail]) => detail?.replace(" COVERING", "")).sort()).toEqual(
    [
      "SEARCH callback USING INDEX callback_failed ((created_at,id)>(?,?) AND (created_at,id)<(?,?))",
      "SEARCH callback USING INDEX callback_of_account (account_id=? AND (created_at,id)>(?,?) AND (created_at,id)<(?,?))",
      "SEARCH callback USING INDEX callback_of_state (account_id=? AND state=? AND (created_at,id)>(?,?) AND (created_at,id)<(?,?))",
      "SEARCH callback USING INDEX callback_of_time ((created_at,id)>(?,?) AND (created_at,id)<(?,?))",
    ].flatMap((plan) => [plan, plan]),
  );
  for (const plan of plans) expect(plan).toHaveLength(1);
});
