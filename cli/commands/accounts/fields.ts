import { type Account, availableOf } from "../../../src/domain/access/account.ts";
import { CURRENCY, formatAmount, type Micros } from "../../../src/domain/money/money.ts";
import { formatMultiplier, ONE } from "../../../src/domain/money/multiplier.ts";
import { formatTime } from "../../format/units.ts";

/** Lists an account's fields as names and values, for people. */
export function accountFields(account: Account): [string, string | undefined][] {
  const money = (amount: Micros) => `${formatAmount(amount)} ${CURRENCY}`;
  const available = availableOf(account);
  const { creditLimit, priceMultiplier, lowBalance } = account;
  return [
    ["id", account.id],
    ["name", account.name],
    ["mode", account.mode],
    ["status", account.status],
    ["balance", money(account.balance)],
    ["held", money(account.held)],
    ["credit limit", creditLimit === 0 ? undefined : money(creditLimit)],
    ["available", available === undefined ? "unlimited" : money(available)],
    ["low balance", lowBalance === undefined ? undefined : money(lowBalance)],
    ["prices", priceMultiplier === ONE ? undefined : `× ${formatMultiplier(priceMultiplier)}`],
    ["created", formatTime(account.createdAt)],
  ];
}
