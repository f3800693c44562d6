import type { JsonObject } from "./json.ts";
import type { DatabaseCheck } from "./ports/database-check.ts";

/**
 * The state of a job whose duration grows with the stored data. A caller begins it and polls for its state. A restart forgets
 * it.
 */
export interface JobState<Result> {
  readonly status: "idle" | "running" | "done" | "failed";
  /** Epoch milliseconds. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Files that were checked so far, for a job that reports them. */
  readonly files?: number | undefined;
  /** Of a job that is done. */
  readonly result?: Result | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
}

const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.floor(ms / 1000));

/** A job as operators see it. */
export function jobForm<Result>(
  state: JobState<Result>,
  resultForm: (result: Result) => JsonObject,
): JsonObject {
  const { status, startedAt, endedAt, files, result, error } = state;
  return {
    ...{ status, started_at: seconds(startedAt), ended_at: seconds(endedAt), files_so_far: files ?? null },
    ...{ result: result === undefined ? null : resultForm(result), error: error ?? null },
  };
}

/** A check of the database as operators see it. */
export function databaseCheckForm({ faults, schema, fileBytes, walBytes, pages }: DatabaseCheck) {
  return {
    ok: faults.length === 0,
    faults: faults.map(({ kind, message }) => ({ kind, message })),
    schema: { current: schema.current ?? null, latest: schema.latest, pending: [...schema.pending] },
    database_bytes: fileBytes,
    wal_bytes: walBytes,
    page_bytes: pages?.sizeBytes ?? null,
    pages: pages?.count ?? null,
    free_pages: pages?.free ?? null,
    free_bytes: pages === undefined ? null : pages.free * pages.sizeBytes,
  };
}
