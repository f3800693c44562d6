import type { Database } from "bun:sqlite";
import type { Connection } from "../connection.ts";

/** How many records may be in memory only, before they move to the index on disk. */
const RECENT_MAX = 16_384;
/** Digests that one operation moves at least, where there are as many, so that it does not delay others for long. */
const MERGED_AT_ONCE = 1_024;
/** Digests are kept apart by their first byte, so that no more than those that move are sorted. */
const SHELVES = 256;

interface Recent {
  readonly digest: Uint8Array;
  readonly id: number;
}

/**
 * Keeps digests of idempotency records that the index on disk lacks, and moves them there once they are many. What was put by a write
 * that was undone stays, so whoever finds a record reads its digest too.
 */
export function openRecentRecords(connection: Connection) {
  const shelves = createShelves();
  for (const record of unmerged(connection.db)) shelves.put(record);
  const mergeSome = prepareMerging(connection.db, shelves);
  let isMerging = false;

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
    put(record: Recent): void {
      shelves.put(record);
      if (record.id % MERGED_AT_ONCE === 0 && shelves.count() > RECENT_MAX && !isMerging) void merge();
    },
    forget: shelves.forget,
  };
}

/** Ids of records by their digest, in the order of its first byte. */
function createShelves() {
  const shelves = Array.from({ length: SHELVES }, () => new Map<string, number>());
  const textOf = ({ buffer, byteOffset, length }: Uint8Array) =>
    Buffer.from(buffer, byteOffset, length).toString("latin1");
  const shelfOf = (digest: Uint8Array) => shelves[digest[0] as number] as Map<string, number>;
  return {
    count: () => shelves.reduce((sum, { size }) => sum + size, 0),
    find: (digest: Uint8Array) => shelfOf(digest).get(textOf(digest)),
    put: ({ digest, id }: Recent) => void shelfOf(digest).set(textOf(digest), id),
    /** Forgets a digest, unless it has another id by now. */
    forget({ digest, id }: Recent): void {
      const [shelf, text] = [shelfOf(digest), textOf(digest)];
      if (shelf.get(text) === id) shelf.delete(text);
    },
    /** What the first shelves have, `least` records or all there are, in the order of their digests. */
    first(least: number): Recent[] {
      const records: Recent[] = [];
      for (const shelf of shelves) {
        const sorted = [...shelf].sort(([a], [b]) => (a < b ? -1 : 1));
        records.push(...sorted.map(([text, id]) => ({ digest: Buffer.from(text, "latin1"), id })));
        if (records.length >= least) break;
      }
      return records;
    },
  };
}

function unmerged(db: Database): Recent[] {
  return db
    .query<Recent, []>(
      "select digest, id from idempotency where id > (select merged_id from idempotency_merge) order by id",
    )
    .all();
}

function prepareMerging(db: Database, shelves: ReturnType<typeof createShelves>) {
  const copy = db.prepare<never, [digest: Uint8Array, id: number]>(
    `insert or replace into idempotency_index (digest, id)
       select digest, id from idempotency where digest = ?1 and id = ?2`,
  );
  const settle = db.prepare(
    "update idempotency_merge set merged_id = (select coalesce(max(id), 0) from idempotency)",
  );
  /** Copies the first digests, in the order of the index, which takes the fewest pages. */
  return () => {
    const records = shelves.first(MERGED_AT_ONCE);
    for (const { digest, id } of records) copy.run(digest, id);
    const isAll = records.length === shelves.count();
    if (isAll) settle.run();
    return { records, isAll };
  };
}
