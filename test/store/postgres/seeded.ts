import type { Session } from "../../../src/store/postgres/session.ts";

/** Tasks in a seeded database, of which these are queued, and these under way. */
export const SEEDED = { tasks: 200_000, queued: 4_000, underWay: 60 } as const;
export const [ACCOUNTS, MODELS] = [20, 30] as const;

const id = (kind: string, number: string) => `'${kind}_' || lpad((${number})::text, 12, '0')`;

/** Accounts, models and keys take turns among the tasks, of which the newest live. Every tenth prompt has the word `lighthouse`. */
const STATEMENTS = [
  "set local session_replication_role = replica",
  // On a busy machine, more time may pass between two statements than a service may take.
  "set local idle_in_transaction_session_timeout = 0",
  `insert into account (number, id, name, mode, status, balance_micros, held_micros, created_at)
     select i, ${id("acct", "i")}, 'account ' || i, 'unlimited', 'active', 0, 0, 0 from generate_series(1, ${ACCOUNTS}) as i`,
  `insert into label (number, text) select i, case when i <= ${MODELS} then 'model-' || i else ${id("key", "i")} end
     from generate_series(1, ${MODELS + 2 * ACCOUNTS}) as i`,
  `insert into label (number, text) select i, 'text-' || i from generate_series(${MODELS + 2 * ACCOUNTS + 1}, 30000) as i`,
  `insert into task (number, id, account_number, key_label, request_id, kind, model_label, held_micros, created_at, status, stage,
       pool, due_at, lane, route_index, attempts, failures, progress, cancel_requested, completed_at, started_at, charged_micros,
       results, quote, request, change, setup, family_number)
     select i, ${id("task", "i")}, 1 + i % ${ACCOUNTS}, ${MODELS + 1} + i % ${2 * ACCOUNTS}, 'request', (array['image', 'video'])[1 + i % 2],
       1 + (i / 7) % ${MODELS}, 0, i, case when is_queued then 'pending' when is_under_way then 'processing'
         else (array['completed', 'completed', 'failed', 'cancelled'])[1 + i % 4] end,
       case when is_queued then 'queued' when is_under_way then 'running' else 'terminal' end,
       case when is_queued then (array['ready', 'ready', 'waiting'])[1 + i % 3] when is_under_way then 'under_way' end,
       case when is_queued or is_under_way then i end, 'lane-' || i % 4, 0, 1, 0, 0, 0,
       case when not is_queued and not is_under_way then i + 5 end, i, 0, null, '{}',
       '{"prompt":"picture ' || i % 100 || case when i % 10 = 0 then ' lighthouse' else '' end || '"}', i, (array['', 'a', 'b'])[1 + i % 3],
       case when i % 50 = 0 then 1 + i / 1000 end
     from (select i, i > ${SEEDED.tasks - SEEDED.queued} as is_queued, i between ${SEEDED.tasks - SEEDED.queued - SEEDED.underWay + 1}
       and ${SEEDED.tasks - SEEDED.queued} as is_under_way from generate_series(1, ${SEEDED.tasks}) as i) as made`,
  `insert into attempt (id, task_number, sequence, provider, upstream_model, state, started_at, ended_at, cost_micros)
     select ${id("attempt", "number")}, number, 1, lane, 'upstream', 'done', created_at, completed_at, 5 from task where completed_at is not null`,
  `insert into asset (id, account_number, task_number, role, position, sha256, size_bytes, type, width, height, created_at)
     select ${id("asset", "number")}, account_number, number, 'output', 0, decode(md5(number::text), 'hex'), 1, 'image/png', 1, 1, 0
     from task where status = 'completed'`,
  `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, due_at, attempts, sends, redeliver, created_at, event)
     select ${id("cb", "number")}, id, ${id("acct", "account_number")}, '', '', '', '', 'delivered', 0, 1, 1, 0, number, 'task.completed'
     from task where number % 10 = 9`,
  `insert into callback_attempt (callback_id, sequence, started_at, is_redelivery) select id, 1, 0, 0 from callback`,
  `insert into task_search (number, terms)
     select number, array['#' || number / 8192, '=kind' || kind, 'picture', (number % 100)::text]
       || case when number % 10 = 0 then array['lighthouse'] else '{}' end from task`,
  `insert into search_state (id, indexed_to) values (1, ${SEEDED.tasks})`,
  `insert into usage_day (account_id, day, key_id, model, completed, failed, cancelled, outputs, charged_micros)
     select account.id, day, ${id("key", `${MODELS} + account.number`)}, 'model-' || model, 1, 0, 0, 1, 0
     from account cross join generate_series(1, 200) as day cross join generate_series(1, 10) as model`,
  // Some keys are of the tasks above; of each two, one has spent of its quota.
  `insert into api_key (id, account_id, name, hash, display, created_at)
     select ${id("key", "i")}, ${id("acct", `1 + i % ${ACCOUNTS}`)}, 'key ' || i, 'hash ' || i, '', 0 from generate_series(1, 20000) as i`,
  `insert into key_quota (key_id, period, used_micros, reserved_micros)
     select id, period, 0, 0 from api_key cross join generate_series(1, 3) as period where right(id, 1)::int % 2 = 0`,
  `select setval('task_change_number', ${SEEDED.tasks})`,
  `select setval('task_number_seq', ${SEEDED.tasks})`,
];

/** Fills an empty database as a service leaves it that had many tasks. Every task has the number and the change that its id has. */
export async function seed(session: Session): Promise<void> {
  for (const text of STATEMENTS) await session.ask(text, []);
}
