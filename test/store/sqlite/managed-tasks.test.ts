import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Connection, openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { LOOKED_AT, prepareManagedTasks } from "../../../src/store/sqlite/task-store/managed.ts";
import { prepareManagedChanges } from "../../../src/store/sqlite/task-store/managed-changes.ts";
import { ACCOUNT, keyId, NOW, newTask, taskId } from "../../helpers/store.ts";

let connection: Connection;
beforeEach(() => {
  connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
});
afterEach(() => connection.stop());

/** Stores tasks that have failed, of which the first alone was completed. */
function fill(count: number): void {
  const { db } = connection;
  db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
    values ('${ACCOUNT}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage,
       lane, route_index, attempts, failures, progress, cancel_requested, completed_at, charged_micros, quote, request)
     values (?, '${ACCOUNT}', '${keyId(1)}', 'req', 'image', 'sandbox-image', 'o', 0, ${NOW}, ?, 'terminal',
       'sandbox', 0, 0, 0, 0, 0, ${NOW}, 0, ?, ?)`,
  );
  const [price, body] = [JSON.stringify(quote), JSON.stringify(request)];
  db.transaction(() => {
    for (let i = 1; i <= count; i++) insert.run(taskId(i), i === 1 ? "completed" : "failed", price, body);
  })();
}

test("a page looks at so many tasks, and the last one at the rest: what matches is found in the end", () => {
  fill(2 * LOOKED_AT + 1);
  const list = prepareManagedTasks(connection.db);
  for (const accountId of [undefined, ACCOUNT]) {
    const filter = { accountId, status: "completed", limit: 20 } as const;
    const first = list(filter);
    expect(first).toEqual({ tasks: [], next: taskId(LOOKED_AT + 2) });
    const second = list({ ...filter, after: first.next });
    expect(second).toEqual({ tasks: [], next: taskId(2) });
    const third = list({ ...filter, after: second.next });
    expect(third.tasks.map(({ id }) => id)).toEqual([taskId(1)]);
    expect(third.next).toBeUndefined();
  }
});

test("no statement sorts or reads the whole table", () => {
  const seen: string[] = [];
  const { prepare } = connection.db;
  connection.db.prepare = ((sql: string) => {
    seen.push(sql);
    return prepare(sql);
  }) as typeof prepare;
  prepareManagedTasks(connection.db);
  prepareManagedChanges(connection.db);
  const plans = seen.map((sql) =>
    connection.db
      .query<{ detail: string }, []>(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join("\n"),
  );
  expect(plans).toHaveLength(7);
  for (const plan of plans) {
    expect(plan).toMatch(
      /SEARCH task USING (COVERING )?INDEX (sqlite_autoindex_task_1|task_of_account|task_change) \(/,
    );
    expect(plan).not.toMatch(/SCAN task|TEMP B-TREE/);
  }
});
