import type { TaskId } from "../../../domain/ids.ts";
import type { Micros } from "../../../domain/money/money.ts";
import type { IdempotencyClaim } from "../../../domain/task/idempotency.ts";
import {
  digestOf,
  type IdempotencyRow,
  type IdempotencyUse,
  readUse,
  type UsedKey,
} from "../../sqlite/task-store/idempotency.ts";
import { inserting } from "../given-rows.ts";
import { type Session, statement } from "../session.ts";

/** A record that is to be written. The digest is hexadecimal. */
export interface RecordRow extends IdempotencyRow {
  readonly digest: string;
}

// Each is looked up by itself: a plan that reads all records in place of that is chosen while there are few, and kept.
const SELECT = statement<RecordRow, [digests: readonly string[]]>(
  `select hex as digest, found.* from unnest($1::text[]) as given (hex) cross join lateral
     (select fingerprint, task_id, held_micros, expires_at from idempotency where digest = unhex(hex) offset 0) as found`,
);
const ENDED = statement<never, [now: number, limit: number]>(
  `delete from idempotency where digest in
     (select digest from idempotency where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
);
const END = statement<never, [digest: string, task: string]>(
  "update idempotency set expires_at = 0 where digest = unhex($1) and task_id = $2",
);

const TYPES: { readonly [Name in keyof RecordRow]: string } = {
  ...{ digest: "text", fingerprint: "text", task_id: "text", held_micros: "bigint", expires_at: "bigint" },
};

/** Inserts records, as SQL. They replace those that have ended by `now`. One that is still in force stays, and counts as not inserted. */
export const recording = (rows: string, now: string): string =>
  inserting(
    "idempotency",
    TYPES,
    {
      ...{ digest: "unhex(digest)", fingerprint: "fingerprint", task_id: "task_id" },
      ...{ held_micros: "held_micros", expires_at: "expires_at" },
    },
    {
      rows,
      rest: `on conflict (digest) do update set fingerprint = excluded.fingerprint, task_id = excluded.task_id,
         held_micros = excluded.held_micros, expires_at = excluded.expires_at
       where idempotency.expires_at <= ${now}`,
    },
  );

/** Records of the keys by which creates are sent again, found by a digest of their scope. */
export const records = {
  /** The record of each digest that has one. */
  async byDigest(session: Session, digests: readonly string[]): Promise<ReadonlyMap<string, IdempotencyRow>> {
    const rows = await SELECT.all(session, digests);
    return new Map(rows.map((row) => [row.digest, row]));
  },
  async find(session: Session, claim: IdempotencyClaim, now: number): Promise<UsedKey | undefined> {
    const [row] = await SELECT.all(session, [digestOf(claim)]);
    return row && readUse(row, claim, now);
  },
  /** Ends the record of a key, if it belongs to this task. */
  async free(session: Session, use: IdempotencyUse, taskId: TaskId): Promise<void> {
    await END.run(session, digestOf(use), taskId);
  },
  /** Removes records that expired before `now`. @returns how many */
  expire: (session: Session, now: number, limit: number) => ENDED.run(session, now, limit),
};

export function recordOf(claim: IdempotencyClaim, taskId: TaskId, held: Micros): RecordRow {
  return {
    digest: digestOf(claim),
    fingerprint: claim.fingerprint,
    task_id: taskId,
    held_micros: held,
    expires_at: claim.expiresAt,
  };
}
