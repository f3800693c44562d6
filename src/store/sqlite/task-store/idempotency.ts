import type { Database } from "bun:sqlite";
import type { IdempotencyClaim } from "../../../domain/idempotency.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { type Micros, toMicros } from "../../../domain/money.ts";
import type { AdmitResult } from "../../../domain/ports/task-store.ts";

export type UsedKey = Extract<AdmitResult, { kind: "replayed" | "conflict" }>;

export interface IdempotencyRecords {
  find(claim: IdempotencyClaim, now: number): UsedKey | undefined;
  /** Writes the record, in place of one that ended; or writes nothing and says what the key was used for. */
  claim(claim: IdempotencyClaim, use: { taskId: TaskId; held: Micros; now: number }): UsedKey | undefined;
  /** Takes back a record written by `claim` in the same transaction. */
  release(claim: IdempotencyClaim): void;
  expire(now: number, limit: number): number;
}

interface Row {
  readonly fingerprint: string;
  readonly task_id: TaskId;
  readonly held_micros: number;
  readonly expires_at: number;
}

type Values = [digest: Uint8Array, fingerprint: string, task: string, held: number, expires: number];

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
  const insert = db.prepare<never, Values>(
    `insert into idempotency (digest, fingerprint, task_id, held_micros, expires_at) values (?, ?, ?, ?, ?)
     on conflict (digest) do nothing`,
  );
  const remove = db.prepare<never, [digest: Uint8Array]>("delete from idempotency where digest = ?");
  // Records are kept equally long, so they end in the order of their ids; no index on the time is needed.
  const removeEnded = db.prepare<never, [limit: number, now: number]>(
    `delete from idempotency where id in (select id from idempotency order by id limit ?) and expires_at <= ?`,
  );

  function find(claim: IdempotencyClaim, now: number): UsedKey | undefined {
    const row = select.get(digestOf(claim));
    if (row === null || row.expires_at <= now) return undefined;
    if (row.fingerprint !== claim.fingerprint) return { kind: "conflict" };
    return { kind: "replayed", taskId: row.task_id, held: toMicros(row.held_micros) };
  }

  return {
    find,
    claim(claim, { taskId, held, now }) {
      const values: Values = [digestOf(claim), claim.fingerprint, taskId, held, claim.expiresAt];
      if (insert.run(...values).changes === 1) return undefined;
      const used = find(claim, now);
      if (used !== undefined) return used;
      remove.run(digestOf(claim));
      insert.run(...values);
      return undefined;
    },
    release: (claim) => void remove.run(digestOf(claim)),
    expire: (now, limit) => removeEnded.run(limit, now).changes,
  };
}

/** A claim is looked up, then written: its digest is worth keeping for that long. */
const digests = new WeakMap<IdempotencyClaim, Uint8Array>();

/** 128 bits of SHA-256 of the scope; the parts cannot hold a line feed. */
function digestOf(claim: IdempotencyClaim): Uint8Array {
  const known = digests.get(claim);
  if (known !== undefined) return known;
  const hash = new Uint8Array(32);
  Bun.SHA256.hash(`${claim.keyId}\n${claim.route}\n${claim.key}`, hash);
  const digest = hash.subarray(0, 16);
  digests.set(claim, digest);
  return digest;
}
