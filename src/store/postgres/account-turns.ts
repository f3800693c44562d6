import type { AccountId } from "../../domain/ids.ts";
import type { StorageError } from "../../domain/ports/task-store.ts";
import type { Operation } from "./session.ts";

export interface AccountWrite {
  readonly operation: Operation<unknown>;
  readonly isOwed: boolean;
}

interface Waiting extends AccountWrite {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** @param onLate called again and again as long as a write that is not owed would be refused */
type RunTogether = (
  of: AccountId,
  writes: readonly AccountWrite[],
  onLate: (reason: StorageError) => void,
) => Promise<unknown[]>;

/** Writes of one account that share a transaction. */
const MOST_TOGETHER = 64;

/**
 * Runs the writes of each account in order. Writes that arrive during one transaction share the next one. If one of them
 * throws, each runs in a transaction of its own. Those that are owed may wait long for the storage; the others are refused then.
 */
export function createTurns(
  runTogether: RunTogether,
  asStorageError: (error: unknown) => StorageError | undefined,
) {
  const queues = new Map<AccountId, Waiting[]>();
  const running = new Set<Promise<void>>();

  const run = (of: AccountId, writes: readonly Waiting[]) =>
    runTogether(of, writes, (reason) => refuse(queues.get(of) ?? [], reason));

  async function runAll(of: AccountId, writes: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(of, writes);
      for (const [i, { resolve }] of writes.entries()) resolve(results[i]);
    } catch (error) {
      if (asStorageError(error) !== undefined) return goOnWithOwed(of, writes, error);
      if (writes.length > 1) for (const write of writes) await runAll(of, [write]);
      else for (const { reject } of writes) reject(error);
    }
  }

  /** A write that records what has already happened can be repeated. For any other write the caller must learn the outcome. */
  async function goOnWithOwed(of: AccountId, writes: readonly Waiting[], error: unknown): Promise<void> {
    const [owed, others] = [writes.filter(({ isOwed }) => isOwed), writes.filter(({ isOwed }) => !isOwed)];
    for (const { reject } of others) reject(error);
    if (others.length > 0 && owed.length > 0) return runAll(of, owed);
    for (const { reject } of owed) reject(error);
  }

  async function work(of: AccountId, queue: Waiting[]): Promise<void> {
    // Writes of the same turn of the event loop share the first transaction.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    while (queue.length > 0) await runAll(of, queue.splice(0, MOST_TOGETHER));
    queues.delete(of);
  }

  return {
    add(of: AccountId, write: AccountWrite): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const waiting = { ...write, resolve, reject };
        const queue = queues.get(of);
        if (queue !== undefined) return void queue.push(waiting);
        const started = [waiting];
        queues.set(of, started);
        const work_ = work(of, started).finally(() => running.delete(work_));
        running.add(work_);
      });
    },
    /** Resolves when nothing waits. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Refuses what waits behind writes that are owed, as long as these may wait. */
function refuse(queue: Waiting[], reason: StorageError): void {
  const waiting = queue.splice(0);
  queue.push(...waiting.filter(({ isOwed }) => isOwed));
  for (const { isOwed, reject } of waiting) if (!isOwed) reject(reason);
}
