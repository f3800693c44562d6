import type { AccountId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { createTurns } from "./account-turns.ts";
import { CHANGE_MARK, LAST_NUMBER } from "./change-marks.ts";
import type { Transaction } from "./client.ts";
import { isCommitted, TIMELINE, type TransactionName } from "./commit-outcome.ts";
import type { Driver } from "./driver.ts";
import { asStorageError } from "./errors.ts";
import { prepareLeaveStandby } from "./misled.ts";
import { createOutage, type PatienceDeps, pause, preparePatience, type WriterState } from "./patience.ts";
import { type Operation, statement } from "./session.ts";
import { createOrder } from "./write-order.ts";

export interface WriteOptions {
  /** The write records what has already happened elsewhere. It waits until it is stored or the store closes. */
  readonly isOwed?: boolean;
}

export interface WriterDeps extends PatienceDeps {
  /** How long a statement may have no answer. A lock is waited for less long, so that the server says so itself. */
  readonly deadlineMs?: number | undefined;
}

export type Writer = ReturnType<typeof createWriter>;

/** How long a process may leave a write alone. One that is frozen holds up others that claim, and those that write for the same account. */
const LEFT_ALONE_MS = 1_000;
/**
 * Marks in the locks of the database the number that this transaction's changes of tasks are above, and names the transaction, so that
 * a commit without an answer can be asked about. Has the server undo it where its process leaves it alone: the write is then tried again.
 */
const MARK = statement<TransactionName, [lockTimeout: string]>(
  `select set_config('lock_timeout', $1, true) as lock_timeout,
     set_config('idle_in_transaction_session_timeout', '${LEFT_ALONE_MS}', true) as left_alone,
     pg_current_xact_id()::text as xid, ${TIMELINE} as timeline,
     pg_advisory_xact_lock_shared(${CHANGE_MARK} + (select ${LAST_NUMBER} from task_change_number)) is null as marked`,
);
/** The part of a deadline that a lock is waited for. */
const LOCK_SHARE = 0.6;
/** Holds the account's row until the transaction ends. Rows that refer to it may be inserted meanwhile. */
const HOLD_ACCOUNT = statement<{ number: number }, [id: string]>(
  "select number from account where id = $1 for no key update",
);

/** Runs writes in transactions. Writes of one account are taken together, in their order; those of several accounts side by side. */
export function createWriter(driver: Driver, deps: WriterDeps) {
  const outage = createOutage(deps);
  const state = { isStopped: false, isPatient: true };
  const together = prepareTogether(driver, state, { ...deps, onAway: outage.goOn });
  const patiently = preparePatience(outage, state, deps);
  const refused = () => Promise.reject(new StorageError("closed", "The database was closed."));
  const turns = createTurns((of, writes, onLate) => {
    const operations = writes.map(({ operation }) => operation);
    const isOwed = writes.every((write) => write.isOwed);
    return patiently(() => together(of, operations), { isOwed, onLate });
  }, asStorageError);
  const alone = new Set<Promise<unknown>>();
  const order = createOrder(alone, () => Promise.allSettled([...alone, turns.idle()]));
  const run = async <T>(operation: Operation<T>, { isOwed = false }: WriteOptions) =>
    (await patiently(() => together(undefined, [operation]), { isOwed }))[0] as T;

  return {
    /** Why nothing is written: an outage that has lasted for a second. */
    trouble: () => outage.noticed(),
    /** Runs an operation in a transaction of its own. Resolves once it is durable. */
    write<T>(operation: Operation<T>, options: WriteOptions = {}): Promise<T> {
      if (state.isStopped) return refused();
      return order.tracked(order.later(() => run(operation, options)));
    },
    /** As `write`, after all writes that were requested before it, and before all that are requested after it. */
    writeInOrder<T>(operation: Operation<T>, options: WriteOptions = {}): Promise<T> {
      if (state.isStopped) return refused();
      return order.tracked(order.between(() => run(operation, options)));
    },
    /**
     * Runs an operation that touches rows of one account. It holds the account's row, and shares its transaction with other writes of
     * the account. An operation that throws is undone alone.
     */
    writeFor<T>(of: AccountId, operation: Operation<T>, { isOwed = false }: WriteOptions = {}): Promise<T> {
      if (state.isStopped) return refused();
      return order.later(() => turns.add(of, { operation, isOwed }) as Promise<T>);
    },
    /** Tries once more what waits, and waits for nothing from now on. */
    giveUp(): void {
      state.isPatient = false;
    },
    /** Finishes what was requested. */
    async stop(): Promise<void> {
      const pending = Promise.allSettled([...alone, turns.idle()]);
      state.isStopped = true;
      await pending;
      outage.stop();
    },
  };
}

function prepareTogether(
  driver: Driver,
  state: WriterState,
  { deadlineMs = 0, onAway }: WriterDeps & { readonly onAway: (reason: StorageError) => void },
) {
  const lockTimeout = String(Math.floor(deadlineMs * LOCK_SHARE));
  const leaveStandby = prepareLeaveStandby(driver);

  /** Runs operations in one transaction. @returns their results; @throws what one of them threw, and nothing is written */
  async function together(of: AccountId | undefined, operations: readonly Operation<unknown>[]) {
    const transaction = await driver.begin();
    const marked = MARK.get(transaction, lockTimeout);
    const held = of === undefined ? undefined : HOLD_ACCOUNT.get(transaction, of);
    for (const asked of [marked, held]) asked?.catch(() => {});
    const results: unknown[] = [];
    let name: TransactionName | undefined;
    try {
      for (const operation of operations) results.push(await operation(transaction));
      await held;
      name = await marked;
    } catch (error) {
      await transaction.rollback().catch(() => {});
      // What is asked after a statement that failed fails for that alone.
      await marked;
      await held;
      throw error;
    }
    await committed(transaction, name);
    return results;
  }

  /** Commits. Where the answer is lost, asks what became of the transaction. */
  async function committed(transaction: Transaction, name: TransactionName | undefined): Promise<void> {
    try {
      await transaction.commit();
    } catch (error) {
      if (asStorageError(error)?.kind !== "away" || name === undefined) throw error;
      const wait = (tries: number, reason?: StorageError) => {
        if (state.isStopped) return Promise.reject(error);
        if (reason !== undefined) onAway(reason);
        leaveStandby();
        return pause(tries);
      };
      if (!(await isCommitted(driver, name, wait))) throw error;
    }
  }

  return async (of: AccountId | undefined, operations: readonly Operation<unknown>[]) => {
    try {
      return await together(of, operations);
    } catch (error) {
      if (asStorageError(error)?.kind === "read_only") leaveStandby();
      throw error;
    }
  };
}
