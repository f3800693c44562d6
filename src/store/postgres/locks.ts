import { type Session, statement } from "./session.ts";

/**
 * Advisory locks of transactions for work that only one process may do at a time. They are 32-bit numbers, and differ from the
 * locks that mark changes of tasks and from the lock of migrations.
 */
export const LOCKS = {
  claimCallbacks: 0x73766332,
  retention: 0x73766333,
  move: 0x73766334,
  import: 0x73766335,
  claimTasks: 0x73766337,
  statistics: 0x73766338,
} as const;
export type LockName = keyof typeof LOCKS;

const TAKE = statement<never, [key: number]>("select pg_advisory_xact_lock($1::bigint) is null as taken");
const TRY = statement<{ taken: boolean }, [key: number]>(
  "select pg_try_advisory_xact_lock($1::bigint) as taken",
);

/** Waits until no other transaction has the lock. It is released with this one. */
export async function takeLock(session: Session, name: LockName): Promise<void> {
  await TAKE.run(session, LOCKS[name]);
}

/** Takes a lock until the end of the transaction, unless another one has it. @returns whether it was taken */
export async function tryLock(session: Session, name: LockName): Promise<boolean> {
  return (await TRY.get(session, LOCKS[name]))?.taken === true;
}
