import type { Database } from "bun:sqlite";
import type { Asset } from "../../domain/media/asset.ts";

/** Some stored bytes of a task. */
export interface KeptBytes {
  /** Where to read on. */
  readonly place: number;
  readonly bytes: number;
  /** When its task ended, in epoch milliseconds; null while it has not. */
  readonly endedAt: number | null;
}

/** A file that a task has. */
export interface KeptFile extends KeptBytes {
  readonly role: Asset["role"];
  /** Whether a later task or an uploaded file has the same content, so that it stays when this one's goes. */
  readonly isShared: 0 | 1;
}

/** About what a row of a callback, and one of a send, take with their entries in indexes. */
const [CALLBACK_BYTES, SEND_BYTES] = [600, 150];

/** Reads what is kept of tasks, some rows at a time. */
export function prepareReclaimable(db: Database) {
  const files = db.prepare<KeptFile, [after: number, limit: number]>(
    `select asset.number as place, role, size_bytes as bytes, completed_at as endedAt,
       exists (select 1 from asset as later indexed by asset_of_content
               where later.sha256 = asset.sha256 and later.number > asset.number)
         or exists (select 1 from upload indexed by upload_of_content where upload.sha256 = asset.sha256) as isShared
     from asset left join task on task.number = asset.task_number
     where asset.number > ? order by asset.number limit ?`,
  );
  const callbacks = db.prepare<KeptBytes, [after: number, limit: number]>(
    `select callback.rowid as place, ${CALLBACK_BYTES} + length(url) + sends * ${SEND_BYTES} as bytes,
       iif(callback.pool is null, completed_at, null) as endedAt
     from callback left join task on task.id = callback.task_id
     where callback.rowid > ? order by callback.rowid limit ?`,
  );
  return {
    files: (after: number, limit: number) => files.all(after, limit),
    callbacks: (after: number, limit: number) => callbacks.all(after, limit),
    /** Bytes of pages that hold nothing. */
    freePages(): number {
      const pages =
        db.query<{ freelist_count: number }, []>("pragma freelist_count").get()?.freelist_count ?? 0;
      return pages * (db.query<{ page_size: number }, []>("pragma page_size").get()?.page_size ?? 0);
    },
  };
}
