import type { Database } from "bun:sqlite";

/** Frames (pages) in the write-ahead log that trigger a copy into the database: about 4 MB. */
const FRAMES = 1000;
/** Frames of a log that a reader made long: its file is emptied once the reader is gone. */
const LONG = 2 * FRAMES;
const EMPTY_AGAIN_MS = 1_000;

interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Makes checkpoints in place of SQLite, for two reasons. SQLite hides the errors of its own checkpoints, and one that could not
 * flush the disk must stop the service. And these run after the commit has been answered.
 */
export function createCheckpoints(db: Database, deps: { onError: (error: unknown) => void }) {
  db.run("pragma wal_autocheckpoint = 0");
  const look = db.prepare<Progress, []>("pragma wal_checkpoint(noop)");
  const copy = db.prepare<Progress, []>("pragma wal_checkpoint(passive)");
  const empty = db.prepare<Progress, []>("pragma wal_checkpoint(truncate)");
  let next: ReturnType<typeof setImmediate> | undefined;
  let emptying: ReturnType<typeof setTimeout> | undefined;

  function guarded<T>(checkpoint: () => T): T | undefined {
    try {
      return checkpoint();
    } catch (error) {
      // The log still has everything that was committed. The listener decides whether the service goes on.
      deps.onError(error);
      return undefined;
    }
  }

  function copySome(): void {
    next = undefined;
    const progress = guarded(() => copy.get());
    // A reader in the way would be in the way of the next commits too, and looking for frames to copy takes long.
    if (progress && (progress.checkpointed < progress.log || progress.log > LONG)) emptyLater();
  }

  function emptyLater(): void {
    emptying = setTimeout(() => {
      emptying = undefined;
      if (!truncate()) emptyLater();
    }, EMPTY_AGAIN_MS);
  }

  const truncate = (): boolean => guarded(() => empty.get())?.busy === 0;

  return {
    /** Called after each commit. Keeps the log short, after this turn of the event loop. */
    afterCommit(): void {
      if (next !== undefined || emptying !== undefined) return;
      const progress = guarded(() => look.get());
      if (!progress || progress.log < FRAMES || progress.checkpointed === progress.log) return;
      next = setImmediate(copySome);
    },
    /** Copies everything and empties the log file. @returns false when a reader prevents it */
    truncate,
    stop(): void {
      if (next !== undefined) clearImmediate(next);
      clearTimeout(emptying);
    },
  };
}
