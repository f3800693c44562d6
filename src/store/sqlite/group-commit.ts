import type { Database } from "bun:sqlite";
import type { TaskId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { type Outcome, prepareBatch } from "./batch.ts";
import { asStorageError } from "./errors.ts";
import { createKeptWrites, type KeptWrite, type KeptWrites } from "./kept-writes.ts";
import type { LogFlush } from "./log-flush.ts";
import { createOutage, type Outage } from "./outage.ts";

/** A transaction ends at the first await, so a body that returns a promise does not type-check. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : unknown;

export type GroupCommit = ReturnType<typeof createGroupCommit>;

export interface WriteOptions {
  /** The write records what has already happened elsewhere. It waits until it is stored or the store closes. */
  readonly isOwed?: boolean;
  /** What several writes in a row leave to the last of them; see `Write`. Always the same function. */
  readonly closing?: () => void;
  /** The task that it may end: what is read of that task alone is told once this is durable. */
  readonly ends?: TaskId | undefined;
}

export interface GroupCommitDeps {
  /** Called once, when continuing could do harm. */
  readonly onDamaged?: ((error: unknown) => void) | undefined;
  /** Called when nothing could be written for a second, and when it can be again. */
  readonly onOutage?: ((reason: StorageError) => void) | undefined;
  readonly onOutageEnded?: ((lastedMs: number) => void) | undefined;
  /** How long a write waits for a busy database or a full disk; 5 seconds unless given. */
  readonly patienceMs?: number | undefined;
}

interface CommitEvents {
  readonly onCommitted: () => void;
  readonly log: Pick<LogFlush, "after">;
  /** Writes were undone, and others may run. */
  readonly onUndone?: () => void;
}

const PATIENCE_MS = 5_000;
/** Writes that may wait for an outage to end. */
const MOST_KEPT = 10_000;
/**
 * Writes of a turn that wait for those of the next one. When so many ask at once, more have been sent meanwhile, and each takes less
 * of a larger commit. Fewer would wait for nothing.
 */
const MANY = 8;

/**
 * Shares one commit, and so one flush of the disk, between all writes of a turn of the event loop, or of two when they are many.
 * While another process holds the database or the disk is full, writes are kept in their order and tried again from a timer; nothing
 * waits inside SQLite.
 */
export function createGroupCommit(db: Database, deps: GroupCommitDeps & CommitEvents) {
  const { patienceMs = PATIENCE_MS } = deps;
  const kept = createKeptWrites();
  const outage = createOutage({
    retry: () => flush(),
    onNoticed: deps.onOutage,
    onEnded: deps.onOutageEnded,
  });
  const { flush, explain, giveUp, refuse, refusal } = prepareFlush(db, { ...deps, kept, outage });

  function endTurn(): void {
    if (kept.count() < MANY) flush();
    else setImmediate(flush);
  }

  return {
    ...{ flush, explain, giveUp },
    /** Refuses every later write, and what is still kept. */
    refuse(error: StorageError): void {
      refuse(error);
      outage.stop();
      kept.refuse(error);
    },
    /** Why nothing can be written: damage, or an outage that has lasted for a second. */
    trouble: () => refusal() ?? outage.noticed(),
    /**
     * Runs `operation` in the transaction that all writes of this turn of the event loop share. Resolves once it is durable. An
     * operation that throws is undone alone. It may run more than once, each time after its last run was undone. A rejected write
     * was not applied.
     */
    write<T>(operation: () => T & Synchronous<T>, options: WriteOptions = {}): Promise<T> {
      const { isOwed = false, closing, ends } = options;
      const hindrance = outage.reason();
      const isTooMany = hindrance !== undefined && !isOwed && kept.count() >= MOST_KEPT;
      const refused = refusal() ?? (isTooMany ? hindrance : undefined);
      if (refused !== undefined) return Promise.reject(refused);
      return new Promise<T>((resolve, reject) => {
        // Once some are kept, the flush after the last one or the timer of the outage commits them.
        if (kept.count() === 0 && hindrance === undefined) setImmediate(endTurn);
        const waitsUntilMs = isOwed ? Number.POSITIVE_INFINITY : outage.waitedMs() + patienceMs;
        // Each entry is resolved with the result of its own operation, so the types match.
        kept.add({
          operation,
          closing,
          ends,
          resolve: resolve as (value: unknown) => void,
          reject,
          waitsUntilMs,
        });
      });
    },
  };
}

/** Commits the kept writes. If that fails, decides what happens to them. */
function prepareFlush(
  db: Database,
  deps: GroupCommitDeps & CommitEvents & { readonly kept: KeptWrites; readonly outage: Outage },
) {
  const { kept, outage } = deps;
  const commit = prepareCommit(db, deps.onUndone);
  const { explain, refusal, refuse } = createRefusal(deps.onDamaged);
  let isPatient = true;

  /** Commits now instead of at the end of the turn. */
  function flush(): void {
    const hindrance = outage.reason();
    // Running many writes in vain on a full disk would take long.
    const batch = hindrance?.kind === "full" ? kept.takeFirst() : kept.takeAll();
    if (batch.length === 0 && hindrance === undefined) return;
    try {
      const refused = refusal();
      if (refused !== undefined) throw refused;
      const { outcomes, hasWritten } = commit(batch, hindrance !== undefined);
      goOn();
      deps.onCommitted();
      const settling = (damage?: StorageError) =>
        damage === undefined ? settle(batch, outcomes) : rejectAll(batch, explain(damage));
      deps.log.after({ writes: batch, settle: settling }, hasWritten);
    } catch (error) {
      const reason = explain(error);
      if (isPatient && isPassing(reason)) keep(batch, reason);
      else {
        rejectAll(batch, reason);
        goOn();
      }
    }
  }

  function keep(batch: KeptWrite[], reason: StorageError): void {
    outage.goOn(reason);
    kept.putBack(batch);
    kept.refuse(reason, outage.waitedMs());
  }

  function goOn(): void {
    outage.end();
    if (kept.count() > 0) setImmediate(flush);
  }

  return {
    flush,
    explain,
    refusal,
    /** Tries once more. Writes that cannot be stored are refused from now on, and not kept. */
    giveUp(): void {
      isPatient = false;
      if (kept.count() > 0) flush();
      // An outage that has just ended left all but the first.
      if (kept.count() > 0) flush();
    },
    refuse,
  };
}

/** Why every write is refused. */
function createRefusal(onDamaged: GroupCommitDeps["onDamaged"]) {
  let refusal: StorageError | undefined;
  return {
    refusal: () => refusal,
    refuse(error: StorageError): void {
      refusal ??= error;
    },
    /** Turns an error of the storage into a StorageError. Reports damage once, and refuses every write after it. */
    explain(error: unknown): unknown {
      const storageError = asStorageError(error);
      if (storageError?.kind === "damaged" && refusal === undefined) {
        refusal = storageError;
        onDamaged?.(storageError);
      }
      return storageError ?? error;
    },
  };
}

/**
 * Returns a function that commits writes. During an outage a page is written with them: they may change
 * nothing, and the commit of nothing succeeds on a full disk, too.
 */
function prepareCommit(
  db: Database,
  onUndone?: () => void,
): (batch: readonly KeptWrite[], isOutage: boolean) => Committed {
  const runBatch = prepareBatch(db, onUndone);
  const probe = { operation: prepareProbe(db) };
  const changed = db.prepare<{ rows: number }, []>("select total_changes() as rows");
  return (batch, isOutage) => {
    const before = changed.get()?.rows;
    const outcomes = isOutage ? runBatch([probe, ...batch]).slice(1) : runBatch(batch);
    return { outcomes, hasWritten: changed.get()?.rows !== before };
  };
}

interface Committed {
  readonly outcomes: readonly Outcome[];
  /** Whether rows were changed. The length of the log does not tell: another process may have emptied it meanwhile. */
  readonly hasWritten: boolean;
}

function settle(batch: readonly KeptWrite[], outcomes: readonly Outcome[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i];
    if (outcome?.ok) resolve(outcome.value);
    else reject(outcome?.error);
  }
}

function rejectAll(batch: readonly KeptWrite[], reason: unknown): void {
  for (const { reject } of batch) reject(reason);
}

/** Whether an error of the storage may pass by itself. */
function isPassing(error: unknown): error is StorageError {
  return error instanceof StorageError && error.kind !== "damaged" && error.kind !== "closed";
}

/** Returns an operation that writes one page and changes nothing. */
function prepareProbe(db: Database): () => void {
  const version = db.prepare<{ user_version: number }, []>("pragma user_version");
  return () => void db.run(`pragma user_version = ${version.get()?.user_version ?? 0}`);
}
