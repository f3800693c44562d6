import type { Database } from "bun:sqlite";
import type { IdempotencyClaim } from "../../../domain/idempotency.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { type Micros, toMicros } from "../../../domain/money.ts";
import type { AdmitResult } from "../../../domain/ports/task-store.ts";

export type UsedKey = Extract<AdmitResult, { kind: "replayed" | "conflict" }>;

export interface IdempotencyRecords {
  find(claim: IdempotencyClaim, now: number): UsedKey | undefined;
  /** Writes the record, in place of one that ended. */
  put(claim: IdempotencyClaim, taskId: TaskId, held: Micros): void;
  expire(now: number, limit: number): number;
}

interface Row {
  readonly fingerprint: string;
  readonly task_id: TaskId;
  readonly held_micros: number;
  readonly expires_at: number;
}

/**
 * Raw statements: they are part of every create.
 *
 * A record is found by a digest of its scope, since callers' keys are random: the index that takes them in no order is as small
 * as can be, and the rows themselves are only appended. One index on the scope itself cost four times as much per create.
 */
export function prepareIdempotency(db: Database): IdempotencyRecords {
  const select = db.prepare<Row, [digest: Uint8Array]>(
    "select fingerprint, task_id, held_micros, expires_at from idempotency where digest = ?",
  );
  const insert = db.prepare<
    never,
    [digest: Uint8Array, fingerprint: string, task: string, held: number, expires: number]
  >(
    "insert or replace into idempotency (digest, fingerprint, task_id, held_micros, expires_at) values (?, ?, ?, ?, ?)",
  );
  const removeEnded = db.prepare<never, [now: number, limit: number]>(
    `delete from idempotency where id in
       (select id from idempotency where expires_at <= ? order by expires_at limit ?)`,
  );

  return {
    find(claim, now) {
      const row = select.get(digestOf(claim));
      if (row === null || row.expires_at <= now) return undefined;
      if (row.fingerprint !== claim.fingerprint) return { kind: "conflict" };
      return { kind: "replayed", taskId: row.task_id, held: toMicros(row.held_micros) };
    },
    put(claim, taskId, held) {
      insert.run(digestOf(claim), claim.fingerprint, taskId, held, claim.expiresAt);
    },
    expire: (now, limit) => removeEnded.run(now, limit).changes,
  };
}

/** 128 bits of SHA-256 of the scope; the parts cannot hold a line feed. */
function digestOf({ keyId, route, key }: IdempotencyClaim): Uint8Array {
  const digest = new Uint8Array(32);
  Bun.SHA256.hash(`${keyId}\n${route}\n${key}`, digest);
  return digest.subarray(0, 16);
}
