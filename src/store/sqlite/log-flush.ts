import { closeSync, fdatasyncSync, openSync } from "node:fs";
import type { TaskId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { Write } from "./batch.ts";

/** A thread that waits for the disk in place of the event loop, while that pays. */
export interface FlushThread {
  /** Whether to have the thread flush. */
  isPreferred(): boolean;
  /** Flushes an open file in the event loop. @throws Error when the disk fails */
  flushHere(file: number): void;
  /** Flushes an open file in the thread; one at a time. @throws Error when the disk fails */
  flush(file: number): Promise<void>;
  stop(): void;
}

/** Who waits until what was committed is durable. */
interface Waiting {
  /** What was committed; nothing for a read. */
  readonly writes: readonly Pick<Write, "ends">[];
  /** Called once it is durable, or with why it never will be. */
  readonly settle: (damage?: StorageError) => void;
}

export type LogFlush = ReturnType<typeof createLogFlush>;

/**
 * Flushes the write-ahead log to the disk after commits, which themselves only write it (`synchronous = normal`), for two reasons.
 * While a disk is slow, a thread waits for it, and the event loop answers others and runs the next transaction. And SQLite as Bun
 * has it calls `fsync`, which writes the file's time of change as well, where its contents and length are enough.
 *
 * SQLite itself flushes the log before a checkpoint copies pages from it and when it begins anew, so the database is whole at any time.
 *
 * @param path of the database
 * @param thread without one, the event loop always waits itself
 */
export function createLogFlush(path: string, thread?: FlushThread) {
  const log = createLogFile(path, thread);
  /** Told at the end of the flush that the thread makes; undefined when there is none. Then `next` is empty. */
  let underWay: Waiting[] | undefined;
  /** Those that committed after it began. */
  let next: Waiting[] = [];
  let onIdle: (() => void) | undefined;

  function flush(waiting: Waiting[]): void {
    if (log.isThreadPreferred()) return void flushAside(waiting);
    log.flushHere();
    for (const { settle } of waiting) settle(log.damage());
  }

  async function flushAside(waiting: Waiting[]): Promise<void> {
    underWay = waiting;
    await log.flushAside();
    const missed = next;
    underWay = undefined;
    next = [];
    for (const { settle } of waiting) settle(log.damage());
    if (missed.length > 0) flush(missed);
    if (underWay === undefined) onIdle?.();
  }

  return {
    /** Settles once everything that was committed so far is durable. @param hasWritten whether the last commit wrote anything */
    after(commit: Waiting, hasWritten: boolean): void {
      if (underWay !== undefined) (hasWritten || next.length > 0 ? next : underWay).push(commit);
      else if (hasWritten) flush([commit]);
      else commit.settle(log.damage());
    },
    /** Resolves once everything that was committed so far is durable, or what may have ended one task; undefined when it is. */
    pending(task?: TaskId): Promise<void> | undefined {
      const latest = [next, underWay ?? []].find((waiting) =>
        waiting.some(({ writes }) => concerns(writes, task)),
      );
      return (
        latest &&
        new Promise<void>((resolve, reject) => {
          const settle = (damage?: StorageError) => (damage === undefined ? resolve() : reject(damage));
          latest.push({ writes: [], settle });
        })
      );
    },
    /** Resolves once no flush is under way, and closes the file. */
    async stop(): Promise<void> {
      if (underWay !== undefined) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      log.close();
    },
  };
}

const concerns = (writes: Waiting["writes"], task: TaskId | undefined): boolean =>
  task === undefined || writes.some(({ ends }) => ends === task);

/** The file of the log. Its damage stays: after a flush that failed, the kernel may have dropped what was to be written. */
function createLogFile(path: string, thread: FlushThread | undefined) {
  let file: number | undefined;
  let damage: StorageError | undefined;

  // Opened late: the first commit makes it.
  const open = () => (file ??= openSync(`${path}-wal`, "r+"));

  function onError(error: unknown): void {
    damage = new StorageError("damaged", "The database or its disk is damaged.", error);
  }

  return {
    damage: () => damage,
    isThreadPreferred: () => damage === undefined && thread?.isPreferred() === true,
    flushHere(): void {
      // A database in memory has no log.
      if (path === ":memory:") return;
      try {
        if (thread === undefined) fdatasyncSync(open());
        else thread.flushHere(open());
      } catch (error) {
        onError(error);
      }
    },
    async flushAside(): Promise<void> {
      try {
        await thread?.flush(open());
      } catch (error) {
        onError(error);
      }
    },
    close(): void {
      thread?.stop();
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
