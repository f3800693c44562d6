import type { AccountMode } from "../../domain/access/account-terms.ts";
import type { AccountId, TaskId } from "../../domain/ids.ts";
import { holdEntry, type LedgerEntry } from "../../domain/money/ledger.ts";
import { type Micros, sumMicros } from "../../domain/money/money.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { AVAILABLE } from "../sqlite/ledger.ts";
import type { Labels } from "./labels.ts";
import { type Session, statement } from "./session.ts";

export type Ledger = ReturnType<typeof createLedger>;

const HOLD = statement<{ is_low: boolean | null }, [amount: number, account: string]>(
  `update account set held_micros = held_micros + $1
   where id = $2 and (mode = 'unlimited' or ${AVAILABLE} >= $1)
   returning low_balance_told = 0 and ${AVAILABLE} < low_balance_micros as is_low`,
);
const TELL = statement<never, [account: string]>("update account set low_balance_told = 1 where id = $1");
// Once the balance suffices again, the next low balance is reported again.
const MOVE = statement<never, [balance: number, held: number, account: string]>(
  `update account set balance_micros = balance_micros + $1::bigint, held_micros = held_micros + $2::bigint,
     low_balance_told = (low_balance_told = 1
       and balance_micros + $1::bigint - held_micros - $2::bigint + credit_limit_micros < coalesce(low_balance_micros, 0))::int
   where id = $3`,
);
const FUNDS = statement<{ mode: AccountMode; available: number }, [account: string]>(
  `select mode, ${AVAILABLE} as available from account where id = $1`,
);
type Columns = [
  tasks: readonly (TaskId | null)[],
  kinds: readonly string[],
  balances: readonly Micros[],
  holds: readonly Micros[],
  reasons: readonly number[],
  actors: readonly number[],
];
const APPEND = statement<{ is_of_task: boolean }, [account: string, at: number, ...Columns]>(
  `insert into ledger_entry
     (account_number, at, task_number, kind, balance_delta_micros, held_delta_micros, reason_label, actor_label)
   select ${accountNumber("$1")}, $2::bigint, (select number from task where task.id = task_id), kind, balance, held, reason, actor
   from unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) with ordinality
     as entry (task_id, kind, balance, held, reason, actor, place) order by place
   returning task_number is not null as is_of_task`,
);

/** The only writer of ledger rows, and of the balances and holds that are their sums. */
export function createLedger(labels: Labels) {
  /** Writes append-only rows. Does not change the account. */
  async function append(session: Session, account: AccountId, entries: readonly LedgerEntry[], at: number) {
    const labelled = (texts: readonly string[]) => Promise.all(texts.map((text) => labels.of(text)));
    const columns: Columns = [
      entries.map(({ taskId }) => taskId ?? null),
      entries.map(({ kind }) => kind),
      entries.map(({ balanceDelta }) => balanceDelta),
      entries.map(({ heldDelta }) => heldDelta),
      await labelled(entries.map(({ reason }) => reason)),
      await labelled(entries.map(({ actor }) => actor)),
    ];
    const written = await APPEND.all(session, account, at, ...columns);
    const tasks = written.filter(({ is_of_task }) => is_of_task).length;
    if (tasks !== entries.filter(({ taskId }) => taskId !== undefined).length)
      throw new Error(`A task of the account ${account} is not there.`);
  }

  return {
    /**
     * Reserves a new task's price. `noteHold` follows, when the task is stored.
     *
     * @returns whether the balance is now low for the first time; undefined, with nothing written, when the account has too little
     */
    async hold(
      session: Session,
      { accountId, held: amount }: NewTask,
    ): Promise<{ isLow: boolean } | undefined> {
      if (amount === 0) return { isLow: false };
      const held = await HOLD.get(session, amount, accountId);
      if (held === undefined) return undefined;
      const isLow = held.is_low === true;
      if (isLow) await TELL.run(session, accountId);
      return { isLow };
    },
    /** Writes the row of what `hold` reserved. */
    async noteHold(session: Session, { id, accountId, keyId, held: amount, createdAt }: NewTask) {
      if (amount > 0) await append(session, accountId, [holdEntry(id, amount, keyId)], createdAt);
    },
    /** Writes the rows and changes the account by their sums. */
    async post(session: Session, account: AccountId, entries: readonly LedgerEntry[], at: number) {
      if (entries.length === 0) return;
      await append(session, account, entries, at);
      const balance = sumMicros(entries.map((entry) => entry.balanceDelta));
      const held = sumMicros(entries.map((entry) => entry.heldDelta));
      if ((await MOVE.run(session, balance, held, account)) !== 1)
        throw new Error(`There is no account ${account}.`);
    },
    /** Returns what the account can still spend, in micro-units; infinite for an unlimited account. */
    async available(session: Session, account: AccountId): Promise<number> {
      const row = await FUNDS.get(session, account);
      if (row === undefined) throw new Error(`There is no account ${account}.`);
      return row.mode === "prepaid" ? row.available : Number.POSITIVE_INFINITY;
    },
  };
}
