import type { AccountMode } from "../../domain/access/account-terms.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { NewTask } from "../../domain/task/task.ts";
import type { Connection } from "./connection.ts";

/** What an account can still spend, as SQL. */
export const AVAILABLE = "balance_micros - held_micros + credit_limit_micros";

/** An account as the holds of a row of writes leave it. */
interface Holding {
  readonly id: AccountId;
  readonly number: number;
  readonly mode: AccountMode;
  available: number;
  /** Below what its balance is told as low; null where it was told, or never is. */
  low: number | null;
  /** What the account's row does not have yet. */
  unsettled: number;
}

/**
 * Reserves prices of tasks that are admitted one after the other. Only the first of an account changes its row; what the others add
 * is written by `settle`, before the transaction ends and before anything else looks at the account.
 */
export function prepareHolds(connection: Pick<Connection, "db" | "onUndone">) {
  const { numberOf, first, add, tell } = prepareStatements(connection);
  let open: Holding | undefined;
  connection.onUndone(() => {
    open = undefined;
  });

  function settle(): void {
    const last = open;
    open = undefined;
    if (last !== undefined && last.unsettled > 0) add.run(last.unsettled, last.number);
  }

  function begin(id: AccountId, amount: number): Holding | undefined {
    settle();
    const row = first.get(amount, id);
    if (row === null) return undefined;
    open = { id, ...row, unsettled: 0 };
    return open;
  }

  function goOn(account: Holding, amount: number): Holding | undefined {
    if (account.mode !== "unlimited" && account.available < amount) return undefined;
    account.available -= amount;
    account.unsettled += amount;
    return account;
  }

  return {
    settle,
    /**
     * @returns the account's number, and whether its balance is now low for the first time; undefined, with nothing reserved, when it
     *   has too little
     */
    hold({ accountId, held: amount }: NewTask): { account: number; isLow: boolean } | undefined {
      if (amount === 0) {
        const known = numberOf.get(accountId);
        return known === null ? undefined : { account: known.number, isLow: false };
      }
      const account = open?.id === accountId ? goOn(open, amount) : begin(accountId, amount);
      if (account === undefined) return undefined;
      const isLow = account.low !== null && account.available < account.low;
      if (isLow) {
        tell.run(account.number);
        account.low = null;
      }
      return { account: account.number, isLow };
    },
  };
}

function prepareStatements({ db }: Pick<Connection, "db">) {
  return {
    numberOf: db.prepare<{ number: number }, [account: string]>("select number from account where id = ?"),
    first: db.prepare<Omit<Holding, "id" | "unsettled">, [amount: number, account: string]>(
      `update account set held_micros = held_micros + ?1
       where id = ?2 and (mode = 'unlimited' or ${AVAILABLE} >= ?1)
       returning number, mode, ${AVAILABLE} as available, iif(low_balance_told, null, low_balance_micros) as low`,
    ),
    add: db.prepare<never, [amount: number, account: number]>(
      "update account set held_micros = held_micros + ? where number = ?",
    ),
    tell: db.prepare<never, [account: number]>("update account set low_balance_told = 1 where number = ?"),
  };
}
