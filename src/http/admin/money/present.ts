import { accountForm, ledgerForm } from "../../../domain/access/record-form.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { CURRENCY, formatAmount, type MicrosSum } from "../../../domain/money/money.ts";
import type { ListedQuota } from "../../../service/list-quotas.ts";
import type { LedgerPage, Refunded } from "../../../service/manage-money.ts";

/** A page of a ledger, and the cursor of the next one. */
export function presentLedger({ rows, next }: LedgerPage): JsonObject {
  return {
    currency: CURRENCY,
    entries: rows.map(ledgerForm),
    next: next === undefined ? null : String(next),
  };
}

export function presentRefund({ taskId, amount, account }: Refunded): JsonObject {
  return {
    task_id: taskId,
    refunded: formatAmount(amount),
    currency: CURRENCY,
    account: accountForm(account),
  };
}

export function presentQuota({ key, account, quota }: ListedQuota): JsonObject {
  const { limit, used, reserved, remaining, reset, resetsAt } = quota;
  return {
    key_id: key.id,
    key: key.name,
    account_id: account.id,
    account: account.name,
    ...amounts({ limit, used, reserved, remaining }),
    reset,
    resets_at: resetsAt === undefined ? null : Math.floor(resetsAt / 1000),
  };
}

function amounts(of: Readonly<Record<string, MicrosSum>>): JsonObject {
  return Object.fromEntries(Object.entries(of).map(([name, amount]) => [name, formatAmount(amount)]));
}
