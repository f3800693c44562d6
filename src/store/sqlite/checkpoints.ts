import type { Database } from "bun:sqlite";

/** Frames (pages) in the write-ahead log that trigger a copy into the database: about 4 MB. */
const FRAMES = 1000;
/** Frames of a log that a reader made long: it begins anew once the reader is gone. */
const LONG = 2 * FRAMES;
/** Longer logs are to begin anew before somebody reads for long again. */
export const LONG_LOG_FRAMES = 1.25 * LONG;
/**
 * What stays of the file of a log that was longer, and is overwritten. A flush of a file that grows waits for more than the disk: on ext4,
 * a thread of the kernel notes which new blocks are written, and beside processes that take all processors it comes late. Less than what
 * `svc doctor` warns of.
 */
export const KEPT_BYTES = 48 * 2 ** 20;
/** Commits from one look at the log's length to the next: a look takes as long as half of a small commit. */
const COMMITS_A_LOOK = 4;
const LOOK_AGAIN_MS = 1_000;
/** A reader that stays, such as a program that replicates the log, is looked for ever less often: each look starts a thread. */
const LOOK_LAST_MS = 30_000;
const PART_OF_WAIT = 1 / 8;
/** After a copy that left much, since much was committed meanwhile. */
const COPY_AGAIN_MS = 20;

interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

interface CheckpointDeps {
  readonly onError: (error: unknown) => void;
  /** Copies frames of the log in a thread of its own, as far as no reader is in the way. Without it they are copied here. */
  readonly copyAside?: (() => Promise<void>) | undefined;
}

/**
 * Makes checkpoints in place of SQLite, for three reasons. SQLite hides the errors of its own checkpoints, and one that could not
 * flush the disk must stop the service. These run after the commit has been answered. And a log that a reader made long is copied
 * by a thread, since that takes the disk for longer than requests should wait.
 */
export function createCheckpoints(db: Database, { onError, copyAside }: CheckpointDeps) {
  db.run("pragma wal_autocheckpoint = 0");
  db.run(`pragma journal_size_limit = ${KEPT_BYTES}`);
  const checkpoint = (mode: "noop" | "passive" | "restart" | "truncate") => {
    const statement = db.prepare<Progress, []>(`pragma wal_checkpoint(${mode})`);
    return (): Progress | undefined => {
      try {
        return statement.get() ?? undefined;
      } catch (error) {
        // The log still has everything that was committed. The listener decides whether the service goes on.
        onError(error);
        return undefined;
      }
    };
  };
  const [look, copy] = [checkpoint("noop"), checkpoint("passive")];
  const [restart, truncate] = [checkpoint("restart"), checkpoint("truncate")];
  const renewal = createRenewal({ look, restart: () => restart()?.busy === 0, copyAside });
  let next: ReturnType<typeof setImmediate> | undefined;
  let commits = 0;

  function copySome(): void {
    next = undefined;
    commits = 0;
    const before = look();
    if (!before || before.log < FRAMES || before.checkpointed === before.log) return;
    const progress = copy();
    // A reader that blocks this checkpoint would block those of the next commits too, and searching for frames to copy takes long.
    if (progress && (progress.checkpointed < progress.log || progress.log > LONG)) renewal.begin();
  }

  return {
    /**
     * Called after each commit. Keeps the log short. Looks at its length every few commits, after the turn of the event loop, so that
     * nobody who waits for the commit waits for the look.
     */
    afterCommit(): void {
      commits += 1;
      if (commits < COMMITS_A_LOOK || next !== undefined || renewal.isUnderWay()) return;
      next = setImmediate(copySome);
    },
    /** Copies everything and empties the log file. @returns false when a reader prevents it */
    truncate: (): boolean => truncate()?.busy === 0,
    /** @returns what to wait for while a thread copies */
    stop(): Promise<void> | undefined {
      if (next !== undefined) clearImmediate(next);
      return renewal.stop();
    },
  };
}

/** Has a log that a reader made long begin anew, once no reader is in the way. */
function createRenewal(deps: {
  readonly look: () => Progress | undefined;
  readonly restart: () => boolean;
  readonly copyAside: (() => Promise<void>) | undefined;
}) {
  const { look, restart, copyAside } = deps;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let copying: Promise<void> | undefined;
  let isStopped = false;
  /** How long nothing could be copied. */
  let waitedMs = 0;

  function later(afterMs = LOOK_AGAIN_MS): void {
    timer = setTimeout(() => {
      waitedMs += afterMs;
      const before = look();
      if (copyAside === undefined || before === undefined || isShort(before)) return restartNow();
      // What the thread could not do is done here, where an error is told.
      copying = copyAside().then(() => afterCopy(before), restartNow);
    }, afterMs);
  }

  function afterCopy(before: Progress): void {
    copying = undefined;
    if (isStopped) return;
    const after = look();
    if (after === undefined || isShort(after)) restartNow();
    else if (after.checkpointed > before.checkpointed) goOn();
    else later(Math.min(LOOK_LAST_MS, Math.max(LOOK_AGAIN_MS, waitedMs * PART_OF_WAIT)));
  }

  function goOn(): void {
    waitedMs = 0;
    later(COPY_AGAIN_MS);
  }

  function restartNow(): void {
    copying = undefined;
    timer = undefined;
    if (!isStopped && !restart()) later();
  }

  return {
    begin(): void {
      waitedMs = 0;
      later();
    },
    isUnderWay: (): boolean => timer !== undefined,
    stop(): Promise<void> | undefined {
      isStopped = true;
      clearTimeout(timer);
      return copying;
    },
  };
}

/** Whether what is not copied yet is little enough to be copied between requests. */
const isShort = ({ log, checkpointed }: Progress): boolean => log - checkpointed <= FRAMES;
