import { type Account, availableOf } from "../../../src/domain/access/account.ts";
import { ACCOUNT_TERMS } from "../../../src/domain/access/account-terms.ts";
import { CURRENCY, formatAmount, type Micros } from "../../../src/domain/money/money.ts";
import type { Field } from "../../format/table.ts";
import { termFields } from "../../format/terms.ts";
import { formatTime } from "../../format/units.ts";

/** An account in names and values, for people. */
export function accountFields(account: Account): Field[] {
  const money = (amount: Micros) => `${formatAmount(amount)} ${CURRENCY}`;
  const available = availableOf(account);
  const { mode, creditLimit, ...terms } = termFields(ACCOUNT_TERMS, account);
  return [
    ["id", account.id],
    ["name", account.name],
    mode,
    ["status", account.status],
    ["balance", money(account.balance)],
    ["held", money(account.held)],
    creditLimit,
    ["available", available === undefined ? "unlimited" : money(available)],
    ...Object.values(terms),
    ["created", formatTime(account.createdAt)],
  ];
}
