import type { Database } from "bun:sqlite";

/** Frames (pages) in the write-ahead log that trigger a copy into the database: about 4 MB. */
const FRAMES = 1000;

interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Makes checkpoints in place of SQLite, for two reasons. SQLite hides the errors of its own checkpoints, and one that could not
 * flush the disk must stop the service. And these run after the commit has been answered.
 */
export function createCheckpoints(
  db: Database,
  deps: { busyTimeoutMs: number; onError: (error: unknown) => void },
) {
  db.run("pragma wal_autocheckpoint = 0");
  const look = db.prepare<Progress, []>("pragma wal_checkpoint(noop)");
  const copy = db.prepare<Progress, []>("pragma wal_checkpoint(passive)");
  const empty = db.prepare<Progress, []>("pragma wal_checkpoint(truncate)");
  let next: ReturnType<typeof setImmediate> | undefined;

  function guarded<T>(checkpoint: () => T): T | undefined {
    try {
      return checkpoint();
    } catch (error) {
      // The log still has everything that was committed. The listener decides whether the service goes on.
      deps.onError(error);
      return undefined;
    }
  }

  return {
    /** Called after each commit. Keeps the log short, after this turn of the event loop. */
    afterCommit(): void {
      if (next !== undefined) return;
      const progress = guarded(() => look.get());
      if (!progress || progress.log < FRAMES || progress.checkpointed === progress.log) return;
      next = setImmediate(() => {
        next = undefined;
        guarded(() => copy.get());
      });
    },
    /** Copies everything and empties the log file. @returns false when a reader prevents it */
    truncate(): boolean {
      // Otherwise a reader in another process would delay the checkpoint, and the event loop with it.
      db.run("pragma busy_timeout = 0");
      try {
        return guarded(() => empty.get())?.busy === 0;
      } finally {
        db.run(`pragma busy_timeout = ${deps.busyTimeoutMs}`);
      }
    },
    stop(): void {
      if (next !== undefined) clearImmediate(next);
    },
  };
}
