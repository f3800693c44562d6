import type { Database } from "bun:sqlite";

/** Frames (pages) in the write-ahead log from which on it is copied into the database: about 4 MB. */
const FRAMES = 1000;

export interface Checkpoints {
  /** To be called after each commit: sees to it, after this turn of the event loop, that the log stays short. */
  afterCommit(): void;
  /** Copies everything and empties the log's file. @returns false when a reader is in the way */
  truncate(): boolean;
  stop(): void;
}

interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Checkpoints made by us instead of by SQLite after each commit, for two reasons: SQLite keeps the errors of its own to
 * itself, and one that could not flush the disk must stop the service; and ours run when the answers of the commit are out.
 */
export function createCheckpoints(
  db: Database,
  deps: { busyTimeoutMs: number; onError: (error: unknown) => void },
): Checkpoints {
  db.run("pragma wal_autocheckpoint = 0");
  const look = db.prepare<Progress, []>("pragma wal_checkpoint(noop)");
  const copy = db.prepare<Progress, []>("pragma wal_checkpoint(passive)");
  const empty = db.prepare<Progress, []>("pragma wal_checkpoint(truncate)");
  let next: ReturnType<typeof setImmediate> | undefined;

  function guarded<T>(checkpoint: () => T): T | undefined {
    try {
      return checkpoint();
    } catch (error) {
      // The log keeps all that was committed; whether the service may go on is for the listener to say.
      deps.onError(error);
      return undefined;
    }
  }

  return {
    afterCommit() {
      if (next !== undefined) return;
      const progress = guarded(() => look.get());
      if (!progress || progress.log < FRAMES || progress.checkpointed === progress.log) return;
      next = setImmediate(() => {
        next = undefined;
        guarded(() => copy.get());
      });
    },
    truncate() {
      // Without this a reader in another process would make the checkpoint wait, and the event loop with it.
      db.run("pragma busy_timeout = 0");
      try {
        return guarded(() => empty.get())?.busy === 0;
      } finally {
        db.run(`pragma busy_timeout = ${deps.busyTimeoutMs}`);
      }
    },
    stop() {
      if (next !== undefined) clearImmediate(next);
    },
  };
}
