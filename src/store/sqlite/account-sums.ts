import { holdableOf, MOST_OWED } from "../../domain/access/account.ts";
import type { AccountMode } from "../../domain/access/account-terms.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { NewTask } from "../../domain/task/task.ts";
import type { Connection } from "./connection.ts";

/** What an account can still spend, as SQL. */
export const AVAILABLE = "balance_micros - held_micros + credit_limit_micros";

/** An account's row, when it is first changed. */
interface Changed {
  readonly number: number;
  readonly mode: AccountMode;
  readonly available: number;
  /** Below what its balance is told as low; null where it never is. */
  readonly low: number | null;
  /** Whether it was told that its balance is low. */
  readonly told: number;
}

/** An account as a row of writes leaves it. */
interface OpenAccount extends Omit<Changed, "available" | "told"> {
  available: number;
  isTold: boolean;
  /** What the account's row does not have yet. */
  unsettled: { balance: number; held: number; isTold: boolean };
}

/**
 * The sums of accounts while tasks are admitted and end one after the other. Only the first of an account changes its row; what the
 * others add is written by `settle`, before the transaction ends and before anything else looks at the account.
 */
export function prepareAccountSums(connection: Pick<Connection, "db" | "onUndone">) {
  const { numberOf, hold, move, add } = prepareStatements(connection);
  const open = new Map<AccountId, OpenAccount>();
  connection.onUndone(() => open.clear());

  function settle(): void {
    if (open.size === 0) return;
    for (const { number, isTold, unsettled } of open.values()) {
      const { balance, held } = unsettled;
      if (balance !== 0 || held !== 0 || unsettled.isTold !== isTold)
        add.run(balance, held, isTold ? 1 : 0, number);
    }
    open.clear();
  }

  function opened(id: AccountId, row: Changed | null): OpenAccount | undefined {
    const account = row === null ? undefined : toOpen(row);
    if (account !== undefined) open.set(id, account);
    return account;
  }

  return {
    settle,
    /**
     * Reserves the price of a new task.
     *
     * @returns the account's number, and whether its balance is now low for the first time; undefined, with nothing reserved, when it
     *   has too little
     */
    hold({ accountId, held: amount }: NewTask): { account: number; isLow: boolean } | undefined {
      if (amount === 0) {
        const known = open.get(accountId) ?? numberOf.get(accountId);
        return known === null ? undefined : { account: known.number, isLow: false };
      }
      const known = open.get(accountId);
      const account =
        known === undefined ? opened(accountId, hold.get(amount, accountId)) : holdMore(known, amount);
      if (account === undefined) return undefined;
      const isLow = account.low !== null && !account.isTold && account.available < account.low;
      if (isLow) account.isTold = true;
      return { account: account.number, isLow };
    },
    /**
     * Changes the sums of an account. Once its balance suffices again, the next low balance is told again. Where no money came in, that is
     * at twice the level: what tasks hold and give back would otherwise have it told again and again.
     */
    move(id: AccountId, balance: number, held: number): void {
      const known = open.get(id);
      if (known === undefined) {
        if (opened(id, move.get(balance, held, id)) === undefined)
          throw new Error(`There is no account ${id}.`);
        return;
      }
      known.available += balance - held;
      known.unsettled.balance += balance;
      known.unsettled.held += held;
      known.isTold = known.isTold && known.available < (known.low ?? 0) * (balance > 0 ? 1 : 2);
    },
  };
}

/** @param row as it is after its first change */
function toOpen({ number, mode, available, low, told }: Changed): OpenAccount {
  const isTold = told === 1;
  return { number, mode, available, low, isTold, unsettled: { balance: 0, held: 0, isTold } };
}

function holdMore(account: OpenAccount, amount: number): OpenAccount | undefined {
  if (holdableOf(account) < amount) return undefined;
  account.available -= amount;
  account.unsettled.held += amount;
  return account;
}

function prepareStatements({ db }: Pick<Connection, "db">) {
  const returning = `returning number, mode, ${AVAILABLE} as available, low_balance_micros as low, low_balance_told as told`;
  return {
    numberOf: db.prepare<{ number: number }, [account: string]>("select number from account where id = ?"),
    hold: db.prepare<Changed, [amount: number, account: string]>(
      `update account set held_micros = held_micros + ?1
       where id = ?2 and ${AVAILABLE} + case mode when 'unlimited' then ${MOST_OWED} else 0 end >= ?1 ${returning}`,
    ),
    move: db.prepare<Changed, [balance: number, held: number, account: string]>(
      `update account set balance_micros = balance_micros + ?1, held_micros = held_micros + ?2,
         low_balance_told = low_balance_told
           and balance_micros + ?1 - held_micros - ?2 + credit_limit_micros
             < coalesce(low_balance_micros, 0) * case when ?1 > 0 then 1 else 2 end
       where id = ?3 ${returning}`,
    ),
    add: db.prepare<never, [balance: number, held: number, told: number, account: number]>(
      `update account set balance_micros = balance_micros + ?, held_micros = held_micros + ?, low_balance_told = ?
       where number = ?`,
    ),
  };
}
