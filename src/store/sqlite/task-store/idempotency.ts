import type { TaskId } from "../../../domain/ids.ts";
import { type Micros, toMicros } from "../../../domain/money/money.ts";
import type { AdmitResult } from "../../../domain/ports/task-store.ts";
import type { IdempotencyClaim } from "../../../domain/task/idempotency.ts";
import type { Connection } from "../connection.ts";
import { DIGEST, openRecentRecords, type RecentRecord } from "./recent-records.ts";

export type UsedKey = Extract<AdmitResult, { kind: "replayed" | "conflict" }>;

/** The scope that identifies a key. */
export type IdempotencyUse = Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">;

export type IdempotencyRecords = ReturnType<typeof prepareIdempotency>;

export interface IdempotencyRow {
  readonly fingerprint: string;
  readonly task_id: TaskId;
  readonly held_micros: number;
  readonly expires_at: number;
}

/**
 * Callers' keys are random, so an index on disk would rewrite a page for each. That alone cost a create as much as everything
 * else. Records are therefore appended, and found by a digest of their scope in two places: in memory, where recent ones are, and in
 * an index on disk. Recent digests move there many at a time, in its order. After a restart memory gets what the index lacks.
 *
 * Uses raw statements, which are part of every create.
 */
export function prepareIdempotency(connection: Connection) {
  const { db } = connection;
  const recent = openRecentRecords(connection);
  const select = db.prepare<IdempotencyRow, [digest: string, id: number]>(
    `select fingerprint, task_id, held_micros, expires_at from idempotency where digest = unhex(?1) and id = ?2`,
  );
  const indexed = db.prepare<{ id: number }, [digest: string]>(
    "select id from idempotency_index where digest = unhex(?)",
  );
  const insert = db.prepare(
    "insert into idempotency (digest, fingerprint, task_id, held_micros, expires_at) values (unhex(?), ?, ?, ?, ?)",
  );
  const remove = db.prepare<never, [id: number]>("delete from idempotency where id = ?");
  // All records are kept equally long, so they end in the order of their ids and need no index on the time. The newest one stays:
  // otherwise SQLite would reuse its id, and `merged_id` would cover a record that was never merged.
  const ended = db.prepare<RecentRecord, [limit: number, now: number]>(
    `select id, ${DIGEST} from (select * from idempotency order by id limit ?)
     where expires_at <= ? and id < (select max(id) from idempotency)`,
  );
  const forget = db.prepare<never, [digest: string, id: number]>(
    "delete from idempotency_index where digest = unhex(?) and id = ?",
  );
  const end = db.prepare<never, [task: string, digest: string, id: number]>(
    "update idempotency set expires_at = 0 where task_id = ? and digest = unhex(?) and id = ?",
  );

  const idOf = (digest: string) => recent.find(digest) ?? indexed.get(digest)?.id;

  function find(claim: IdempotencyClaim, now: number, digest = digestOf(claim)): UsedKey | undefined {
    const id = idOf(digest);
    const row = id === undefined ? null : select.get(digest, id);
    return row === null ? undefined : readUse(row, claim, now);
  }

  return {
    find,
    /** Writes the record. It replaces one that has ended. */
    put(claim: IdempotencyClaim, taskId: TaskId, held: Micros, digest = digestOf(claim)): void {
      const { lastInsertRowid } = insert.run(digest, claim.fingerprint, taskId, held, claim.expiresAt);
      recent.put({ digest, id: Number(lastInsertRowid) });
    },
    /** Ends the record of a key, if it belongs to this task. */
    free(use: IdempotencyUse, taskId: TaskId): void {
      const digest = digestOf(use);
      const id = idOf(digest);
      if (id !== undefined) end.run(taskId, digest, id);
    },
    /** Removes records that expired before `now`. @returns how many */
    expire(now: number, limit: number): number {
      const rows = ended.all(limit, now);
      for (const { id, digest } of rows) {
        remove.run(id);
        forget.run(digest, id);
        recent.forget({ digest, id });
      }
      return rows.length;
    },
  };
}

/** What a record that was found says of a create. */
export function readUse(row: IdempotencyRow, claim: IdempotencyClaim, now: number): UsedKey | undefined {
  if (row.expires_at <= now) return undefined;
  if (row.fingerprint !== claim.fingerprint) return { kind: "conflict" };
  return { kind: "replayed", taskId: row.task_id, held: toMicros(row.held_micros) };
}

/** 128 bits of SHA-256 of the scope, as 32 hexadecimal digits; the parts cannot hold a line feed. */
export function digestOf({ keyId, endpoint, key }: IdempotencyUse): string {
  return Bun.SHA256.hash(`${keyId}\n${endpoint}\n${key}`, "hex").slice(0, 32);
}
