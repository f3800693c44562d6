import type { Database } from "bun:sqlite";
import type { Connection } from "../connection.ts";

/** How many records may be in memory only, before they move to the index on disk. */
const RECENT_MAX = 16_384;
/** Digests that one operation moves at least, where there are as many, so that it does not delay others for long. */
const MERGED_AT_ONCE = 512;
/** Digests are kept apart by their first digit, so that no more than those that move are sorted. */
const FIRST_DIGITS = "0123456789abcdef";

/** A record's digest as it is in memory, as SQL: text, which takes less than bytes to compare and to hand over. */
export const DIGEST = "lower(hex(digest)) as digest";

export interface RecentRecord {
  /** Hexadecimal. */
  readonly digest: string;
  readonly id: number;
}

/**
 * Keeps digests of idempotency records that the index on disk lacks, and moves them there once they are many. What was put by a write
 * that was undone stays until the next is put, so whoever finds a record reads its digest too.
 */
export function openRecentRecords(connection: Connection) {
  const shelves = createShelves();
  for (const record of unmerged(connection.db)) shelves.put(record);
  const mergeSome = prepareMerging(connection.db, shelves);
  let isMerging = false;
  let lastId = 0;

  async function merge(): Promise<void> {
    isMerging = true;
    try {
      for (let isOver = false; !isOver; ) {
        const merged = await connection.write(mergeSome);
        // Not before: had the write been undone, neither place would have them.
        for (const record of merged.records) shelves.forget(record);
        isOver = merged.isAll;
      }
    } catch {
      // The next merge takes what is left. A storage that fails is reported to the callers of other writes.
    } finally {
      isMerging = false;
    }
  }

  return {
    /** The id that a digest was last put with. */
    find: shelves.find,
    put(record: RecentRecord): void {
      // Ids only come again where the writes that used them were undone.
      if (record.id <= lastId) shelves.forgetFrom(record.id);
      lastId = record.id;
      shelves.put(record);
      if (record.id % MERGED_AT_ONCE === 0 && shelves.count() > RECENT_MAX && !isMerging) void merge();
    },
    forget: shelves.forget,
  };
}

/** Ids of records by their digest, in the order of its first digit. */
function createShelves() {
  const byDigit = new Map([...FIRST_DIGITS].map((digit) => [digit, new Map<string, number>()]));
  const shelves = [...byDigit.values()];
  const shelfOf = (digest: string) => byDigit.get(digest.charAt(0)) as Map<string, number>;
  return {
    count: () => shelves.reduce((sum, { size }) => sum + size, 0),
    find: (digest: string) => shelfOf(digest).get(digest),
    put: ({ digest, id }: RecentRecord) => void shelfOf(digest).set(digest, id),
    /** Forgets a digest, unless it has another id by now. */
    forget({ digest, id }: RecentRecord): void {
      const shelf = shelfOf(digest);
      if (shelf.get(digest) === id) shelf.delete(digest);
    },
    forgetFrom(first: number): void {
      for (const shelf of shelves) for (const [digest, id] of shelf) if (id >= first) shelf.delete(digest);
    },
    /** What the first shelves have, `least` records or all there are, in the order of their digests. */
    first(least: number): RecentRecord[] {
      const records: RecentRecord[] = [];
      for (const shelf of shelves) {
        for (const digest of [...shelf.keys()].sort())
          records.push({ digest, id: shelf.get(digest) as number });
        if (records.length >= least) break;
      }
      return records;
    },
  };
}

function unmerged(db: Database): RecentRecord[] {
  return db
    .query<RecentRecord, []>(
      `select ${DIGEST}, id from idempotency where id > (select merged_id from idempotency_merge) order by id`,
    )
    .all();
}

function prepareMerging(db: Database, shelves: ReturnType<typeof createShelves>) {
  const newest = db.prepare<{ id: number }, []>("select coalesce(max(id), 0) as id from idempotency");
  const index = db.prepare<never, [digest: string, id: number]>(
    "insert or replace into idempotency_index (digest, id) values (unhex(?), ?)",
  );
  const settle = db.prepare<never, [merged: number]>("update idempotency_merge set merged_id = ?");
  /** Copies the first digests, in the order of the index, which takes the fewest pages. */
  return () => {
    const records = shelves.first(MERGED_AT_ONCE);
    const last = newest.get()?.id ?? 0;
    // Later ones were put by a write that was undone.
    for (const { digest, id } of records) if (id <= last) index.run(digest, id);
    const isAll = records.length === shelves.count();
    if (isAll) settle.run(last);
    return { records, isAll };
  };
}
