import type { TrackingDatabase } from "../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.ts";
import { accountId, keyId, NOW, newTask, taskId } from "./store.ts";

export const [PREPAID, UNLIMITED] = [accountId(1), accountId(2)];

/** Rows of every table as the second migration left them: a task that was paid, one that failed, one live. */
export function fillSecondSchema(db: TrackingDatabase): void {
  applyMigrations(db, MIGRATIONS.slice(0, 2));
  db.run(`insert into account values
    ('${PREPAID}', 'studio', 'prepaid', 'suspended', 60000, 40000, ${NOW}),
    ('${UNLIMITED}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  db.run(`insert into api_key (id, account_id, name, hash, display, created_at, policy)
    values ('${keyId(1)}', '${PREPAID}', 'web', 'h', 'd', ${NOW}, '{"concurrency":2}')`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, callback_url, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool,
       due_at, lane, route_index, attempts, failures, progress, cancel_requested, completed_at, charged_micros, results,
       quote, request)
     values (?, ?, ?, ?, 'req', 'image', 'sandbox-image', 'o', 40000, ${NOW}, ?, ?, ?, ?, 'sandbox', 0, 0, 0, 0, 0, ?, ?, ?, ?, ?)`,
  );
  const body = [JSON.stringify(quote), JSON.stringify(request)] as const;
  const of = (number: number) =>
    [taskId(number), number === 1 ? "https://example.com" : null, PREPAID, keyId(1)] as const;
  insert.run(
    ...of(1),
    "completed",
    "terminal",
    null,
    null,
    NOW,
    40_000,
    '[{"assetId":"a","type":"image/png"}]',
    ...body,
  );
  insert.run(...of(2), "failed", "terminal", null, null, NOW, 0, "[]", ...body);
  insert.run(...of(3), "pending", "queued", "ready", NOW, null, null, null, ...body);
  db.run(`insert into ledger_entry (account_id, task_id, kind, balance_delta_micros, held_delta_micros, reason, at) values
    ('${PREPAID}', null, 'credit', 100000, 0, 'first credit', ${NOW}),
    ('${PREPAID}', '${taskId(1)}', 'hold', 0, 40000, 'task accepted', ${NOW}),
    ('${PREPAID}', '${taskId(1)}', 'capture', -40000, -40000, 'task completed', ${NOW}),
    ('${PREPAID}', '${taskId(2)}', 'hold', 0, 40000, 'task accepted', ${NOW}),
    ('${PREPAID}', '${taskId(2)}', 'release', 0, -40000, 'task failed', ${NOW}),
    ('${PREPAID}', '${taskId(3)}', 'hold', 0, 40000, 'task accepted', ${NOW})`);
  db.run(`insert into usage_day values ('${PREPAID}', 0, '${keyId(1)}', 'sandbox-image', 1, 1, 0, 1, 40000)`);
  db.run(`insert into attempt (id, task_id, sequence, provider, upstream_model, state, started_at)
    values ('att', '${taskId(1)}', 1, 'sandbox', 'm', 'done', ${NOW})`);
  db.run(
    `insert into asset values ('asset', '${PREPAID}', '${taskId(1)}', 'output', 0, '${"ab".repeat(32)}', 1, 'image/png', 1, 1, null, ${NOW})`,
  );
  db.run(
    `insert into callback values ('cb', '${taskId(1)}', 'req', 'https://example.com', 1, 'delivered', ${NOW})`,
  );
  db.run(`insert into callback_attempt values ('cb', 1, ${NOW}, ${NOW}, 'delivered', 200, null)`);
  db.run(`insert into management_token values ('tok', 'ci', 'h', 'd', ${NOW}, null)`);
  db.run(`insert into idempotency values (1, x'00', 'f', '${taskId(1)}', 40000, ${NOW})`);
  db.run("insert into idempotency_index values (x'00', 1)");
  db.run("update idempotency_merge set merged_id = 1");
}
