import type { Database } from "bun:sqlite";
import type { TaskId } from "../../domain/ids.ts";
import { asStorageError } from "./errors.ts";

export interface Write {
  readonly operation: () => unknown;
  /** Called in the transaction after the last of several writes in a row that have the same one. */
  readonly closing?: (() => void) | undefined;
  /** The task that it may end. */
  readonly ends?: TaskId | undefined;
}

/** The outcome of one write of a batch. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

type RunBatch = (writes: readonly Write[]) => Outcome[];

/**
 * Returns a function that runs writes in one transaction. A write that throws is undone alone. An error of the storage is thrown,
 * and then nothing is written.
 *
 * The first run has no savepoints, which cost a few microseconds per write: writes refuse by value, not by
 * throwing. If one throws, everything is rolled back and runs again with a savepoint for each write.
 *
 * @param onUndone called after writes were undone, before others run
 */
export function prepareBatch(db: Database, onUndone?: () => void): RunBatch {
  const [begin, commit] = [db.prepare("begin immediate"), db.prepare("commit")];
  const [savepoint, release] = [db.prepare("savepoint operation"), db.prepare("release operation")];
  const [rollback, rollbackTo] = [db.prepare("rollback"), db.prepare("rollback to operation")];

  function undo(): void {
    // On a full disk or an I/O error SQLite has already rolled back.
    if (db.inTransaction) rollback.run();
    onUndone?.();
  }

  function runPlain(writes: readonly Write[]): Outcome[] {
    begin.run();
    const outcomes = writes.map(({ operation, closing }, i): Outcome => {
      const value = synchronous(operation());
      if (closing !== writes[i + 1]?.closing) closing?.();
      return { ok: true, value };
    });
    // Writes and flushes nothing if no page changed.
    commit.run();
    return outcomes;
  }

  function runGuarded(writes: readonly Write[]): Outcome[] {
    begin.run();
    const outcomes = writes.map(({ operation, closing }): Outcome => {
      savepoint.run();
      try {
        const value = synchronous(operation());
        closing?.();
        release.run();
        return { ok: true, value };
      } catch (error) {
        // An error of the storage fails the whole batch.
        if (!db.inTransaction || asStorageError(error) !== undefined) throw error;
        rollbackTo.run();
        release.run();
        onUndone?.();
        return { ok: false, error };
      }
    });
    commit.run();
    return outcomes;
  }

  return (writes) => {
    try {
      return runPlain(writes);
    } catch (error) {
      undo();
      if (writes.length === 1 || asStorageError(error) !== undefined) throw error;
    }
    try {
      return runGuarded(writes);
    } catch (error) {
      undo();
      throw error;
    }
  };
}

function synchronous(value: unknown): unknown {
  if (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function") {
    throw new TypeError(
      "A write operation must be synchronous: its transaction would end at the first await.",
    );
  }
  return value;
}
