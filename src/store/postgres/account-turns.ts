import type { AccountId } from "../../domain/ids.ts";
import type { StorageError } from "../../domain/ports/task-store.ts";
import { OutcomeUnknown } from "./commit-outcome.ts";
import type { Operation } from "./session.ts";

export interface AccountWrite {
  readonly operation: Operation<unknown>;
  readonly isOwed: boolean;
}

interface Waiting extends AccountWrite {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type RunTogether = (of: AccountId, writes: readonly AccountWrite[]) => Promise<unknown[]>;

/** Writes of one account that share a transaction. */
const MOST_TOGETHER = 64;

/**
 * Runs the writes of each account in order. Writes that arrive during one transaction share the next one. If one of them
 * throws, each runs in a transaction of its own.
 */
export function createTurns(
  runTogether: RunTogether,
  asStorageError: (error: unknown) => StorageError | undefined,
) {
  const queues = new Map<AccountId, Waiting[]>();
  const running = new Set<Promise<void>>();

  async function runOne(of: AccountId, write: Waiting): Promise<void> {
    try {
      const [result] = await runTogether(of, [write]);
      write.resolve(result);
    } catch (error) {
      write.reject(error);
    }
  }

  async function runAll(of: AccountId, writes: readonly Waiting[]): Promise<void> {
    try {
      const results = await runTogether(of, writes);
      for (const [i, { resolve }] of writes.entries()) resolve(results[i]);
    } catch (error) {
      if (error instanceof OutcomeUnknown) return settleUnknown(of, writes, error);
      if (writes.length > 1 && asStorageError(error) === undefined)
        for (const write of writes) await runOne(of, write);
      else for (const { reject } of writes) reject(error);
    }
  }

  /** A write that records what has already happened can be repeated. For any other write the caller must learn the outcome. */
  async function settleUnknown(of: AccountId, writes: readonly Waiting[], error: OutcomeUnknown) {
    for (const { isOwed, reject } of writes) if (!isOwed) reject(error);
    for (const write of writes) if (write.isOwed) await runOne(of, write);
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
