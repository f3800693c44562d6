import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { inWords } from "../helpers/in-words.ts";
import type { Findings } from "./findings.ts";

/** Where the live tasks of a killed server stood. */
export const STANDINGS = ["queued", "fetching inputs", "submitting", "running", "finalizing"] as const;
export type Standing = (typeof STANDINGS)[number];

/** Opens a copy of a database whose process is gone, so that looking leaves its log to be recovered by the next process. */
export function openCopy(file: string, scratch: string): Database {
  mkdirSync(scratch, { recursive: true });
  const copy = join(scratch, "copy.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  }
  return inWords(new Database(copy, { strict: true }));
}

/** Returns a check that a query finds nothing; what it finds is a finding in words. */
export function noneOf(db: Database, where: string, findings: Findings): (what: string, sql: string) => void {
  return (what, sql) => {
    const [first, ...more] = db.query<Record<string, string | number | null>, []>(sql).all();
    if (first !== undefined)
      findings.add(
        `${where}: ${what}: ${JSON.stringify(first)}${more.length > 0 ? ` and ${more.length} more` : ""}`,
      );
  };
}

/** What every committed state must be, whenever the process ended. */
export function checkCommitted(db: Database, where: string, findings: Findings): void {
  const none = noneOf(db, where, findings);
  const integrity = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  findings.check(
    integrity.length === 1 && integrity[0]?.integrity_check === "ok",
    () => `${where}: integrity_check says ${JSON.stringify(integrity.slice(0, 3))}`,
  );
  none("a foreign key without its row", "PRAGMA foreign_key_check");
  none(
    "an account differs from its ledger",
    `SELECT a.id, a.balance_micros, a.held_micros, total(l.balance_delta_micros) AS ledger_balance, total(l.held_delta_micros) AS ledger_held
     FROM account a LEFT JOIN ledger_entry l ON l.account_id = a.id GROUP BY a.id
     HAVING a.balance_micros <> ledger_balance OR a.held_micros <> ledger_held`,
  );
  none(
    "an account holds something else than its live tasks do",
    `SELECT a.id, a.held_micros, total(t.held_micros) AS live FROM account a
     LEFT JOIN task t ON t.account_id = a.id AND t.stage <> 'terminal' GROUP BY a.id HAVING a.held_micros <> live`,
  );
  none(
    "a prepaid account is below what it may owe",
    `SELECT id, balance_micros, held_micros, credit_limit_micros FROM account
     WHERE mode = 'prepaid' AND balance_micros - held_micros + credit_limit_micros < 0`,
  );
  none(
    "a task has not exactly one hold of its price",
    `SELECT t.id, count(l.id) AS holds FROM task t LEFT JOIN ledger_entry l ON l.account_id = t.account_id AND l.task_id = t.id AND l.kind = 'hold'
     AND l.held_delta_micros = t.held_micros GROUP BY t.id HAVING holds <> 1`,
  );
  none(
    "a hold is not resolved exactly once",
    `SELECT t.id, t.status, t.stage, t.held_micros, total(l.held_delta_micros) AS resolved FROM task t
     LEFT JOIN ledger_entry l ON l.account_id = t.account_id AND l.task_id = t.id AND l.kind IN ('capture', 'release') GROUP BY t.id
     HAVING resolved <> CASE t.stage WHEN 'terminal' THEN -t.held_micros ELSE 0 END`,
  );
  none(
    "what a task was charged is not what was captured",
    `SELECT t.id, t.status, t.charged_micros, total(l.balance_delta_micros) AS captured FROM task t
     LEFT JOIN ledger_entry l ON l.account_id = t.account_id AND l.task_id = t.id AND l.kind = 'capture' GROUP BY t.id
     HAVING coalesce(t.charged_micros, 0) <> -captured OR (t.status <> 'completed' AND captured <> 0)`,
  );
  none(
    "what a task was charged is not the sum of its lines",
    `SELECT t.id, t.charged_micros, t.charge, total(line.value ->> '$.amount') AS lines FROM task t
     LEFT JOIN json_each(t.charge) line GROUP BY t.id HAVING coalesce(t.charged_micros, 0) <> lines`,
  );
  none(
    "a completed task has not one set of output files",
    `SELECT t.id, t.status, json_array_length(t.results) AS promised, count(a.id) AS files FROM task t
     LEFT JOIN asset a ON a.task_id = t.id AND a.role = 'output' GROUP BY t.id
     HAVING files <> CASE t.status WHEN 'completed' THEN promised ELSE 0 END`,
  );
  none(
    "a task has more than one accepted attempt",
    `SELECT task_id, count(*) AS accepted FROM attempt WHERE operation IS NOT NULL AND state <> 'rejected' GROUP BY task_id HAVING accepted > 1`,
  );
  none(
    "an idempotency key names a task that is not stored",
    "SELECT task_id FROM idempotency WHERE task_id NOT IN (SELECT id FROM task)",
  );
}

/** Live tasks by where they stand, and the attempts of which nobody knows yet whether they were sent. */
export function standingsOf(db: Database): {
  counts: Record<Standing, number>;
  unknownAttempts: string[];
  live: string[];
} {
  const counts: Record<Standing, number> = {
    queued: 0,
    "fetching inputs": 0,
    submitting: 0,
    running: 0,
    finalizing: 0,
  };
  const rows = db
    .query<{ id: string; stage: Standing; lease_token: string | null }, []>(
      "SELECT id, stage, lease_token FROM task WHERE stage <> 'terminal'",
    )
    .all();
  for (const { stage, lease_token } of rows) {
    counts[stage === "queued" && lease_token !== null ? "fetching inputs" : stage]++;
  }
  const unknown = db.query<{ id: string }, []>("SELECT id FROM attempt WHERE state = 'intent'").all();
  return { counts, unknownAttempts: unknown.map(({ id }) => id), live: rows.map(({ id }) => id) };
}
