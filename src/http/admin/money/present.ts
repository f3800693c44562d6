import { accountForm, ledgerForm } from "../../../domain/access/record-form.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { CURRENCY, formatAmount } from "../../../domain/money/money.ts";
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
