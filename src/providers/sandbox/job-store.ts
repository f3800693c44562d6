import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { DAY_MS } from "../../domain/day.ts";
import { TASK_ERROR_CODES, type TaskErrorCode } from "../../domain/errors.ts";
import type { AttemptId, TaskId } from "../../domain/ids.ts";
import type { Spec } from "./spec.ts";

/** How long a finished job is remembered, and an unfinished one that nobody polls. */
const REMEMBER_FINISHED_MS = DAY_MS;
const REMEMBER_RUNNING_MS = 7 * DAY_MS;
/** How long the files of a finished job are kept. */
const KEEP_FILES_MS = 600_000;
/** Most rows per clean-up, so that it stays short. */
const TIDY_LIMIT = 500;

export interface NewJob {
  readonly id: string;
  readonly attempt: AttemptId;
  readonly taskId: TaskId;
  readonly spec: Spec;
  readonly submittedAt: number;
  /** Not done before. */
  readonly readyAt: number;
}

export type Ending =
  | { readonly state: "succeeded" }
  | { readonly state: "failed"; readonly code: TaskErrorCode; readonly message?: string | undefined }
  | { readonly state: "cancelled" };

export type Job = NewJob & { readonly ending?: Ending | undefined };

/** The sandbox's record of its work, as a remote upstream would keep it. */
export interface JobStore {
  /**
   * Accepts a job. `known`: its attempt was submitted before; only the row's count changes.
   *
   * @param doneAt of a job whose outputs are given with the answer, so that no file is kept
   */
  accept(job: NewJob, doneAt?: number): "accepted" | "known";
  /** Counts a refused submission of the task, if there were fewer than `times`. @returns whether this one is to be refused */
  refuse(taskId: TaskId, times: number, now: number): boolean;
  find(id: string): Job | undefined;
  findByAttempt(attempt: AttemptId): Job | undefined;
  /** Whether the files of a job may still be needed. */
  keepsFiles(id: string): boolean;
  /** Ends a running job. @returns whether it was running */
  end(id: string, ending: Ending, now: number): boolean;
  /** Removes old rows. @returns jobs whose files may be removed */
  tidy(now: number): Job[];
  /** Moves the times of jobs that go on, or whose files are kept. */
  moveTimes(byMs: number): void;
  stop(): void;
}

interface Row {
  id: string;
  attempt: string;
  task_id: string;
  spec: string;
  submitted_at: number;
  ready_at: number;
  state: "running" | "succeeded" | "failed" | "cancelled";
  error_code: string | null;
  error_message: string | null;
  files_kept: number;
}

const SCHEMA = `
  create table if not exists operation (
    id text primary key,
    attempt text not null unique,
    task_id text not null,
    spec text not null,
    submitted_at integer not null,
    ready_at integer not null,
    state text not null default 'running' check (state in ('running', 'succeeded', 'failed', 'cancelled')),
    submissions integer not null default 1,
    error_code text,
    error_message text,
    cancelled_at integer,
    finished_at integer,
    files_kept integer not null default 1
  ) strict, without rowid;
  create index if not exists operation_with_files on operation (finished_at) where files_kept = 1 and finished_at is not null;
  create index if not exists operation_by_age on operation (submitted_at);
  create table if not exists refusal (
    task_id text primary key,
    failures integer not null,
    last_at integer not null
  ) strict, without rowid;
`;

/**
 * Opens the record, a separate SQLite file. Writes do not wait for the disk: jobs survive the end of the process, but not always
 * a power failure. Replaces a damaged file by an empty one.
 */
export function openJobStore(path: string): JobStore {
  const db = openDatabase(path);
  const statements = prepareStatements(db);
  const { accept, refuse, find, findByAttempt, keeping, end } = statements;
  const { dropFiles, forget, forgetRefusals, move } = statements;
  return {
    accept({ id, attempt, taskId, spec, submittedAt, readyAt }, doneAt) {
      const isDone = doneAt !== undefined;
      const [state, kept] = isDone ? (["succeeded", 0] as const) : (["running", 1] as const);
      const text = JSON.stringify(spec);
      const row = accept.get(id, attempt, taskId, text, submittedAt, readyAt, state, doneAt ?? null, kept);
      return row?.submissions === 1 ? "accepted" : "known";
    },
    refuse: (taskId, times, now) => times > 0 && refuse.get(taskId, now, now, times) !== null,
    find: (id) => toJob(find.get(id)),
    findByAttempt: (attempt) => toJob(findByAttempt.get(attempt)),
    keepsFiles: (id) => keeping.get(id) !== null,
    end(id, ending, now) {
      const failure = ending.state === "failed" ? ending : undefined;
      const cancelledAt = ending.state === "cancelled" ? now : null;
      return (
        end.run(ending.state, failure?.code ?? null, failure?.message ?? null, cancelledAt, now, id)
          .changes === 1
      );
    },
    tidy(now) {
      forgetRefusals.run(now - REMEMBER_RUNNING_MS);
      const rows = [
        ...dropFiles.all(now - KEEP_FILES_MS, TIDY_LIMIT),
        ...forget
          .all(now - REMEMBER_FINISHED_MS, now - REMEMBER_RUNNING_MS, TIDY_LIMIT)
          .filter((row) => row.files_kept === 1),
      ];
      return rows.flatMap((row) => toJob(row) ?? []);
    },
    moveTimes: (byMs) => void move.run(byMs),
    stop() {
      for (const statement of Object.values(statements)) statement.finalize();
      db.close();
    },
  };
}

/** The statements of the store, by what they do. */
function prepareStatements(db: Database) {
  const accept = db.prepare<
    { submissions: number },
    [string, string, string, string, number, number, Row["state"], number | null, number]
  >(
    `insert into operation (id, attempt, task_id, spec, submitted_at, ready_at, state, finished_at, files_kept)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (attempt) do update set submissions = submissions + 1 returning submissions`,
  );
  const refuse = db.prepare<{ failures: number }, [string, number, number, number]>(
    `insert into refusal (task_id, failures, last_at) values (?, 1, ?)
     on conflict (task_id) do update set failures = failures + 1, last_at = ? where failures < ? returning failures`,
  );
  const find = db.prepare<Row, [string]>("select * from operation where id = ?");
  const findByAttempt = db.prepare<Row, [string]>("select * from operation where attempt = ?");
  const keeping = db.prepare<Pick<Row, "id">, [string]>(
    "select id from operation where id = ? and files_kept = 1",
  );
  const end = db.prepare<Row, [string, string | null, string | null, number | null, number, string]>(
    `update operation set state = ?, error_code = ?, error_message = ?, cancelled_at = ?, finished_at = ?
     where id = ? and state = 'running'`,
  );
  const dropFiles = db.prepare<Row, [number, number]>(
    `update operation set files_kept = 0 where id in (
       select id from operation where files_kept = 1 and finished_at is not null and finished_at < ? limit ?
     ) returning *`,
  );
  const forget = db.prepare<Row, [number, number, number]>(
    `delete from operation where id in (
       select id from operation
       where submitted_at < ? and (state <> 'running' or submitted_at < ?) order by submitted_at limit ?
     ) returning *`,
  );
  const forgetRefusals = db.prepare<Row, [number]>("delete from refusal where last_at < ?");

  const move = db.prepare<never, [number]>(
    `update operation set submitted_at = submitted_at + ?1, ready_at = ready_at + ?1,
       finished_at = finished_at + ?1, cancelled_at = cancelled_at + ?1
     where state = 'running' or files_kept = 1`,
  );
  return { accept, refuse, find, findByAttempt, keeping, end, dropFiles, forget, forgetRefusals, move };
}

function toJob(row: Row | null): Job | undefined {
  if (row === null) return undefined;
  return {
    id: row.id,
    // Safe: `accept` wrote values of these types.
    attempt: row.attempt as AttemptId,
    taskId: row.task_id as TaskId,
    spec: JSON.parse(row.spec) as Spec,
    submittedAt: row.submitted_at,
    readyAt: row.ready_at,
    ending: toEnding(row),
  };
}

function toEnding(row: Row): Ending | undefined {
  switch (row.state) {
    case "running":
      return undefined;
    case "failed": {
      const code = TASK_ERROR_CODES.find((each) => each === row.error_code) ?? "UPSTREAM_ERROR";
      return { state: "failed", code, message: row.error_message ?? undefined };
    }
    case "succeeded":
    case "cancelled":
      return { state: row.state };
  }
}

function openDatabase(path: string): Database {
  try {
    return prepareDatabase(path);
  } catch (error) {
    const isDamaged =
      error instanceof Error && "code" in error && /^SQLITE_(?:CORRUPT|NOTADB)/.test(String(error.code));
    if (!isDamaged) throw error;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    return prepareDatabase(path);
  }
}

function prepareDatabase(path: string): Database {
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  try {
    db.run("pragma busy_timeout = 5000");
    db.run("pragma journal_mode = wal");
    db.run("pragma synchronous = off");
    db.run(SCHEMA);
    // From now on, whatever another process holds up is tried again later: waiting here would hold up everything.
    db.run("pragma busy_timeout = 0");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
