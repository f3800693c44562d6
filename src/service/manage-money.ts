import type { Account } from "../domain/access/account.ts";
import { ACCOUNT_TERMS, type GivenAccountTerms } from "../domain/access/account-terms.ts";
import { AppError, invalid, mustBe } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import type { Micros } from "../domain/money/money.ts";
import type { AccountChange, AccountStore, LedgerRow, Refund } from "../domain/ports/account-store.ts";
import { checkTerms } from "./check-terms.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import { actNow, findAccount, type ManageAccountDeps, notFound } from "./management.ts";

/** The most characters of the reason for a movement of money. */
export const MAX_REASON_LENGTH = 500;
const CONTROL = /\p{Cc}|\p{Cs}/u;

/** Why money moves. */
export interface Movement {
  readonly reason: string;
}

/** A task's refund, and its account afterwards. */
export interface Refunded {
  readonly taskId: TaskId;
  readonly amount: Micros;
  readonly account: Account;
}

type LedgerQuery = Parameters<AccountStore["ledgerPage"]>[1];

/** One page of an account's ledger, newest first. */
export interface LedgerPage {
  readonly account: Account;
  readonly rows: readonly LedgerRow[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: number | undefined;
}

/** The part of `ManageAccounts` for credits. */
function creditVerbs(deps: ManageAccountDeps) {
  const { accounts } = deps;
  return {
    /**
     * Adds to the balance; a negative amount takes from it. Counts once for each idempotency key, however often it is repeated;
     * `idempotency_conflict` if another credit of the account had that key.
     */
    async creditAccount(
      idOrName: string,
      amount: Micros,
      { reason, idempotencyKey }: Movement & { idempotencyKey?: string | undefined },
    ): Promise<Account> {
      if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
      if (amount === 0) throw invalid({ kind: "amount_zero", field: "amount" });
      checkReason(reason);
      const { id } = await findAccount(deps, idOrName);
      const result = await accounts.credit(id, amount, reason, actNow(deps), idempotencyKey);
      if (result.kind === "credited" || result.kind === "replayed") return result.account;
      if (result.kind === "conflict") {
        throw new AppError("idempotency_conflict", { kind: "idempotency_conflict" }, { shouldRetry: false });
      }
      if (result.kind === "not_found") return notFound("account", idOrName);
      throw notCredited(result.account, result.kind, amount);
    },
  };
}

/** The part of `ManageAccounts` for accounts' money. */
export function moneyVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;

  async function change(idOrName: string, wanted: AccountChange): Promise<Account> {
    const before = await findAccount(deps, idOrName);
    const result = await accounts.updateAccount(before.id, wanted, actNow(deps));
    if (result === "not_found") return notFound("account", idOrName);
    if (result === "overdrawn") throw overdrawn(before, wanted);
    return result;
  }

  return {
    ...creditVerbs(deps),
    /**
     * Changes only what is given. A running server applies the change within a second; accepted tasks keep their price. Refuses
     * a change that would overdraw a prepaid account.
     */
    updateAccount: async (idOrName: string, terms: GivenAccountTerms) =>
      change(idOrName, checkTerms(ACCOUNT_TERMS, terms, { addresses: deps.addresses, now: clock.now() })),
    /** Refuses the account's keys from now on. Accepted tasks continue. Suspending again changes nothing. */
    suspendAccount: (idOrName: string) => change(idOrName, { status: "suspended" }),
    activateAccount: (idOrName: string) => change(idOrName, { status: "active" }),
    /**
     * Returns what a task was charged, or a part of it, once for each task. Usage and quotas still count the charge. `not_found` for
     * an unknown task; `invalid_request` when it was charged less or nothing, or was refunded before.
     */
    async refundTask(task: string, { amount, reason }: Movement & { amount?: Micros | undefined }) {
      if (amount !== undefined && amount <= 0) {
        throw invalid({ kind: "amount_not_positive", field: "amount", given: amount });
      }
      checkReason(reason);
      if (!isId("task", task)) return notFound("task", task);
      const result = await accounts.refund(task, amount, reason, actNow(deps));
      if (result.kind === "not_found") return notFound("task", task);
      if (result.kind !== "refunded") throw notRefunded(task, result, amount);
      const refunded: Refunded = { taskId: task, amount: result.amount, account: result.account };
      return refunded;
    },
    /** At most `limit` movements of an account's money, newest first, before the row with number `before`. */
    async readLedger(idOrName: string, { limit, before }: LedgerQuery): Promise<LedgerPage> {
      const account = await findAccount(deps, idOrName);
      // One row more than requested shows whether there is another page.
      const found = await accounts.ledgerPage(account.id, { limit: limit + 1, before });
      const rows = found.slice(0, limit);
      return { account, rows, next: found.length > limit ? rows.at(-1)?.number : undefined };
    },
  };
}

function overdrawn(
  { balance, held, ...account }: Account,
  { creditLimit = account.creditLimit }: AccountChange,
) {
  return invalid({ kind: "credit_limit_too_low", field: "credit_limit", balance, held, creditLimit });
}

function notCredited(
  { balance, held, creditLimit }: Account,
  why: "too_low" | "uncountable",
  amount: Micros,
) {
  return why === "too_low"
    ? invalid({ kind: "balance_too_low", balance, held, creditLimit, amount })
    : invalid({ kind: "balance_uncountable", field: "amount", balance, amount });
}

function notRefunded(
  task: TaskId,
  result: Exclude<Refund, { kind: "refunded" | "not_found" }>,
  amount: Micros | undefined,
) {
  if (result.kind !== "too_much") return invalid({ kind: result.kind, field: "task", task });
  const { charged } = result;
  return invalid({ kind: "refund_too_high", field: "amount", charged, given: amount ?? charged });
}

function checkReason(reason: string): void {
  const length = [...reason].length;
  if (length < 1 || length > MAX_REASON_LENGTH) {
    throw mustBe("reason", { many: "characters", least: 1, most: MAX_REASON_LENGTH }, length);
  }
  if (CONTROL.test(reason)) throw invalid({ kind: "reason_controls", field: "reason" });
}
