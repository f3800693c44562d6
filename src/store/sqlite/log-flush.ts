import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { StorageError } from "../../domain/ports/task-store.ts";

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

/** Told once what was committed is durable, or why it never will be. */
type Settle = (damage?: StorageError) => void;

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
  let underWay: Settle[] | undefined;
  /** Those that committed after it began. */
  let next: Settle[] = [];
  let onIdle: (() => void) | undefined;

  function flush(settles: Settle[]): void {
    if (log.isThreadPreferred()) return void flushAside(settles);
    log.flushHere();
    for (const settle of settles) settle(log.damage());
  }

  async function flushAside(settles: Settle[]): Promise<void> {
    underWay = settles;
    await log.flushAside();
    const waiting = next;
    underWay = undefined;
    next = [];
    for (const settle of settles) settle(log.damage());
    if (waiting.length > 0) flush(waiting);
    if (underWay === undefined) onIdle?.();
  }

  return {
    /** Calls `settle` once everything that was committed so far is durable. @param hasWritten whether the last commit wrote to the log */
    after(hasWritten: boolean, settle: Settle): void {
      if (underWay !== undefined) (hasWritten || next.length > 0 ? next : underWay).push(settle);
      else if (hasWritten) flush([settle]);
      else settle(log.damage());
    },
    /** Resolves once everything that was committed so far is durable; undefined when it is. */
    pending(): Promise<void> | undefined {
      const settles = next.length > 0 ? next : underWay;
      return (
        settles &&
        new Promise<void>((resolve, reject) => {
          settles.push((reason) => (reason === undefined ? resolve() : reject(reason)));
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
