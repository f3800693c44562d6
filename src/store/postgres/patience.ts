import type { StorageError } from "../../domain/ports/task-store.ts";
import { createSlots } from "../../toolkit/slots.ts";
import { OutcomeUnknown } from "./commit-outcome.ts";
import { asStorageError } from "./errors.ts";

export interface PatienceDeps {
  /** Called when nothing could be written for a second, and when it can be again. */
  readonly onOutage?: ((reason: StorageError) => void) | undefined;
  readonly onOutageEnded?: ((lastedMs: number) => void) | undefined;
  /** How long a write waits for a busy database or one that is away; 5 seconds unless given. */
  readonly patienceMs?: number | undefined;
  /** Transactions at once, with those of which nobody knows yet whether they were committed; 10 unless given. */
  readonly most?: number | undefined;
}

export interface WriterState {
  readonly isStopped: boolean;
  /** Whether anything waits for a database that is away. */
  readonly isPatient: boolean;
}

/** How long a transaction is tried again. */
interface Patience {
  /** It is tried until the store closes, and also when it may have been committed. */
  readonly isOwed: boolean;
  /** Called again and again as long as a write that is not owed would be refused. */
  readonly onLate?: (reason: StorageError) => void;
}

const PATIENCE_MS = 5_000;
const NOTICED_AFTER_MS = 1_000;
const PAUSES_MS = [10, 25, 50, 100, 250] as const;

/** Returns a function that tries again while the database is busy or away, as long as the write is patient. */
export function preparePatience(
  outage: ReturnType<typeof createOutage>,
  state: WriterState,
  { patienceMs = PATIENCE_MS, most = 10 }: PatienceDeps,
): <T>(run: () => Promise<T>, patience: Patience) => Promise<T> {
  // One whose connection was thrown away may go on at the server, and keeps its slot until its end is known.
  const slots = createSlots(most);
  return async (run, { isOwed, onLate }) => {
    const turn = createTurn(isOwed);
    let isLate = false;
    const timer = setInterval(() => {
      isLate = true;
      const reason = outage.noticed();
      if (reason === undefined) return;
      onLate?.(reason);
      turn.refuse(reason);
    }, patienceMs);
    try {
      for (let tries = 0; ; tries++) {
        try {
          const result = await turn.taken(run, slots.run);
          outage.end();
          return result;
        } catch (error) {
          const reason = asStorageError(error);
          if (reason === undefined) throw error;
          if (reason instanceof OutcomeUnknown && !isOwed) throw reason;
          const isPassing = reason.kind !== "damaged" && reason.kind !== "closed" && !state.isStopped;
          if (!isPassing || !state.isPatient || (isLate && !isOwed)) throw reason;
          if (isLate) onLate?.(reason);
          if (reason.kind !== "busy") outage.goOn(reason);
          await pause(tries);
        }
      }
    } finally {
      clearInterval(timer);
    }
  };
}

/** A write's turn to run. It may be refused before that, unless it is owed. */
function createTurn(isOwed: boolean) {
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  let refusal: StorageError | undefined;
  let isRunning = false;

  async function begin<T>(run: () => Promise<T>): Promise<T> {
    // Its caller was told that it is not written.
    if (refusal !== undefined) throw refusal;
    isRunning = true;
    try {
      return await run();
    } finally {
      isRunning = false;
    }
  }

  return {
    /** @param wait waits, and then calls what it is given */
    taken: <T>(run: () => Promise<T>, wait: (begin: () => Promise<T>) => Promise<T>): Promise<T> =>
      Promise.race([wait(() => begin(run)), refused.promise]),
    /** Nothing happens to what runs, because nobody knows how it ends. */
    refuse(reason: StorageError): void {
      if (isOwed || isRunning || refusal !== undefined) return;
      refusal = reason;
      refused.reject(reason);
    },
  };
}

export function pause(tries: number): Promise<void> {
  return Bun.sleep(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0);
}

/** Tells of a time in which nothing could be written, once it has lasted for a second. */
export function createOutage({ onOutage, onOutageEnded }: PatienceDeps) {
  let reason: StorageError | undefined;
  let lastedMs = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function lasted(): void {
    lastedMs += NOTICED_AFTER_MS;
    if (lastedMs === NOTICED_AFTER_MS && reason !== undefined) onOutage?.(reason);
  }

  return {
    noticed: () => (lastedMs > 0 ? reason : undefined),
    goOn(present: StorageError): void {
      reason = present;
      timer ??= setInterval(lasted, NOTICED_AFTER_MS);
    },
    end(): void {
      clearInterval(timer);
      timer = undefined;
      if (lastedMs > 0) onOutageEnded?.(lastedMs);
      lastedMs = 0;
      reason = undefined;
    },
    stop: () => clearInterval(timer),
  };
}
