import type { Database } from "bun:sqlite";
import type { StorageError } from "../../domain/ports/task-store.ts";
import { type Outcome, prepareBatch } from "./batch.ts";
import { asStorageError } from "./errors.ts";

/** A transaction ends at the first await, so a body that returns a promise does not type-check. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : unknown;

export type GroupCommit = ReturnType<typeof createGroupCommit>;

interface Waiting {
  readonly operation: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Shares one commit, and so one flush of the disk, between all writes of a turn of the event loop. */
export function createGroupCommit(
  db: Database,
  deps: { onDamaged: (error: StorageError) => void; onCommitted: () => void },
) {
  const runBatch = prepareBatch(db);
  let waiting: Waiting[] = [];
  let refusal: StorageError | undefined;

  /** Turns an error of the storage into a StorageError. Reports damage once, and refuses every write after it. */
  function explain(error: unknown): unknown {
    const storageError = asStorageError(error);
    if (storageError?.kind === "damaged" && refusal === undefined) {
      refusal = storageError;
      deps.onDamaged(storageError);
    }
    return storageError ?? error;
  }

  /** Commits now instead of at the end of the turn. */
  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      if (refusal !== undefined) throw refusal;
      settle(batch, runBatch(batch));
      deps.onCommitted();
    } catch (error) {
      const reason = explain(error);
      for (const { reject } of batch) reject(reason);
    }
  }

  return {
    flush,
    explain,
    /** Refuses every later write. */
    refuse(error: StorageError): void {
      refusal ??= error;
    },
    /**
     * Runs `operation` in the transaction that all writes of this turn of the event loop share. Resolves once it is durable. An
     * operation that throws is undone alone. It may run twice, after its first run was undone.
     */
    write<T>(operation: () => T & Synchronous<T>): Promise<T> {
      if (refusal !== undefined) return Promise.reject(refusal);
      return new Promise<T>((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        // Each entry is resolved with the result of its own operation, so the types match.
        waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      });
    },
  };
}

function settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i];
    if (outcome?.ok) resolve(outcome.value);
    else reject(outcome?.error);
  }
}
