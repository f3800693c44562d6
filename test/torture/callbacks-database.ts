import type { Database } from "bun:sqlite";
import { noneOf } from "./database.ts";
import type { Findings } from "./findings.ts";

/** What callbacks must be in every committed state, whenever the process ended. */
export function checkCallbacksCommitted(db: Database, where: string, findings: Findings): void {
  const none = noneOf(db, where, findings);
  none(
    "an ended task that asked for a callback has not exactly one, or another task has one",
    `SELECT t.id, t.status, t.callback_url, count(c.id) AS callbacks FROM task t LEFT JOIN callback c ON c.task_id = t.id
     GROUP BY t.id HAVING callbacks <> (t.callback_url IS NOT NULL AND t.status IN ('completed', 'failed'))`,
  );
  none(
    "a callback is not its task's",
    `SELECT c.id FROM callback c JOIN task t ON t.id = c.task_id
     WHERE c.url <> t.callback_url OR c.request_id <> t.request_id OR c.account_id <> t.account_id OR c.key_id <> t.key_id`,
  );
  none(
    "a callback's attempts are not the ones that are remembered, or more than five",
    `SELECT c.id, c.attempts, c.sends, count(a.sequence) AS sent, coalesce(max(a.sequence), 0) AS latest FROM callback c
     LEFT JOIN callback_attempt a ON a.callback_id = c.id GROUP BY c.id
     HAVING c.attempts <> sent OR c.sends <> sent OR latest <> sent OR c.attempts > 5`,
  );
  none(
    "a callback's state is not what its attempts say",
    `SELECT c.id, c.state, c.attempts, total(a.outcome = 'delivered') AS delivered, total(a.ended_at IS NULL AND a.sequence > 0) AS open
     FROM callback c LEFT JOIN callback_attempt a ON a.callback_id = c.id GROUP BY c.id
     HAVING delivered <> (c.state = 'delivered') OR open > (c.state = 'pending') OR (c.state = 'failed' AND c.attempts < 5)
       OR (c.state = 'pending' AND c.attempts = 5 AND open = 0)`,
  );
  none(
    "a send has half an outcome, or ended before it began",
    `SELECT * FROM callback_attempt WHERE (ended_at IS NULL) <> (outcome IS NULL) OR ended_at < started_at
     OR (http_status IS NULL) <> (coalesce(outcome, '') NOT IN ('delivered', 'refused'))`,
  );
}

/** Sends that a killed process was in the middle of. */
export function openSends(db: Database): string[] {
  return db
    .query<{ send: string }, []>(
      "SELECT callback_id || '#' || sequence AS send FROM callback_attempt WHERE ended_at IS NULL",
    )
    .all()
    .map(({ send }) => send);
}

export interface StoredCallback {
  readonly id: string;
  readonly task: string;
  readonly marker: string;
  readonly requestId: string;
  /** Of its task. */
  readonly status: string;
  readonly completedAt: number;
  readonly state: string;
  /** How its sends went, in their order. */
  readonly outcomes: readonly (string | null)[];
}

export function storedCallbacks(db: Database): StoredCallback[] {
  const outcomes = Map.groupBy(
    db
      .query<{ id: string; outcome: string | null }, []>(
        "SELECT callback_id AS id, outcome FROM callback_attempt ORDER BY callback_id, sequence",
      )
      .all(),
    ({ id }) => id,
  );
  return db
    .query<Omit<StoredCallback, "outcomes">, []>(
      `SELECT c.id, c.task_id AS task, json_extract(t.request, '$.prompt') AS marker, c.request_id AS requestId,
              t.status, t.completed_at AS completedAt, c.state
       FROM callback c JOIN task t ON t.id = c.task_id`,
    )
    .all()
    .map((row) => ({ ...row, outcomes: (outcomes.get(row.id) ?? []).map(({ outcome }) => outcome) }));
}
