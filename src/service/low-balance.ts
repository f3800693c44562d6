import type { AccountId } from "../domain/ids.ts";
import { CURRENCY, formatAmount, type Micros, toMicros } from "../domain/money/money.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Log } from "../domain/ports/runtime.ts";

export interface LowBalanceDeps {
  readonly accounts: Pick<AccountStore, "account">;
  readonly log: Pick<Log, "warn">;
}

/**
 * Warns the operator in the log that an account has less left than its `low_balance`. Returns at once and never throws: the
 * task that caused it is accepted.
 */
export type TellLowBalance = (id: AccountId) => void;

export function createTellLowBalance({ accounts, log }: LowBalanceDeps): TellLowBalance {
  const message = "an account is low on balance";
  const tell = async (id: AccountId) => {
    const account = await accounts.account(id);
    // Also warns about unlimited accounts, because the operator set a threshold for them.
    const available = account && toMicros(account.balance - account.held + account.creditLimit);
    log.warn(
      {
        account: id,
        account_name: account?.name,
        available: shown(available),
        threshold: shown(account?.lowBalance),
        currency: CURRENCY,
      },
      message,
    );
  };
  // Warns without the amounts when they cannot be read, because the warning comes only once.
  return (id) => {
    tell(id).catch((error: Error) => log.warn({ account: id, err: error }, message));
  };
}

function shown(amount: Micros | undefined): string | undefined {
  return amount === undefined ? undefined : formatAmount(amount);
}
