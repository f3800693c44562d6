import type { Database } from "bun:sqlite";
import type { Connection } from "../connection.ts";

/** How many records may be in memory only, before they move to the index on disk. */
const RECENT_MAX = 16_384;
/** Digests that one operation moves, so that it does not delay others for long. */
const MERGED_AT_ONCE = 1_024;

/** Keeps digests of idempotency records that the index on disk lacks, and moves them there once they are many. */
export function openRecentRecords(connection: Connection) {
  const { db } = connection;
  db.run(
    "create temp table if not exists idempotency_recent (digest blob primary key, id integer not null) without rowid",
  );
  db.run(
    `insert or replace into temp.idempotency_recent
       select digest, id from idempotency where id > (select merged_id from idempotency_merge) order by id`,
  );
  const put = db.prepare<never, [digest: Uint8Array, id: number]>(
    "insert or replace into temp.idempotency_recent (digest, id) values (?, ?)",
  );
  const forget = db.prepare<never, [digest: Uint8Array, id: number]>(
    "delete from temp.idempotency_recent where digest = ? and id = ?",
  );
  const { count, mergeSome } = prepareMerging(db);
  let isMerging = false;

  async function merge(): Promise<void> {
    isMerging = true;
    try {
      while (await connection.write(mergeSome));
    } catch {
      // The next merge takes what is left. A storage that fails is reported to the callers of other writes.
    } finally {
      isMerging = false;
    }
  }

  return {
    put(digest: Uint8Array, id: number): void {
      put.run(digest, id);
      // Counting scans the table, so it is done rarely.
      if (id % MERGED_AT_ONCE === 0 && count() > RECENT_MAX && !isMerging) void merge();
    },
    forget: (digest: Uint8Array, id: number) => void forget.run(digest, id),
  };
}

function prepareMerging(db: Database) {
  const counted = db.prepare<{ count: number }, []>("select count(*) as count from temp.idempotency_recent");
  const copy = db.prepare<never, [limit: number]>(
    `insert or replace into idempotency_index (digest, id)
       select digest, id from temp.idempotency_recent order by digest limit ?`,
  );
  const drop = db.prepare<never, [limit: number]>(
    `delete from temp.idempotency_recent where digest in
       (select digest from temp.idempotency_recent order by digest limit ?)`,
  );
  const settle = db.prepare(
    "update idempotency_merge set merged_id = (select coalesce(max(id), 0) from idempotency)",
  );
  const count = () => counted.get()?.count ?? 0;
  return {
    count,
    /** Moves the first digests, in the order of the index. @returns whether there are more */
    mergeSome(): boolean {
      copy.run(MERGED_AT_ONCE);
      drop.run(MERGED_AT_ONCE);
      const isEmpty = count() === 0;
      if (isEmpty) settle.run();
      return !isEmpty;
    },
  };
}
