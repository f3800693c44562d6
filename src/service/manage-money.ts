import type { Account } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import { CURRENCY, formatAmount, type Micros, toMicros } from "../domain/money/money.ts";
import type { AccountChange, LedgerRow, Refund } from "../domain/ports/account-store.ts";
import { type AccountTerms, checkAccountTerms } from "./account-terms.ts";
import { findAccount, invalid, type ManageAccountDeps, notFound, quote } from "./management.ts";

/** Characters of the reason for a movement of money. */
export const MAX_REASON_LENGTH = 500;
const CONTROL = /\p{Cc}|\p{Cs}/u;

/** Why money moves, and who moves it: a management token's id, or `operator` on the data folder. */
export interface Movement {
  readonly reason: string;
  readonly actor: string;
}

/** What was given back for a task, and its account afterwards. */
export interface Refunded {
  readonly taskId: TaskId;
  readonly amount: Micros;
  readonly account: Account;
}

/** A part of an account's ledger, newest first. */
export interface LedgerPage {
  readonly account: Account;
  readonly rows: readonly LedgerRow[];
  /** Where the next page begins; absent on the last. */
  readonly next?: number | undefined;
}

/** The part of `ManageAccounts` that is about accounts' money; its promises are there. */
export function moneyVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;

  async function change(idOrName: string, wanted: AccountChange): Promise<Account> {
    const before = await findAccount(deps, idOrName);
    const result = await accounts.updateAccount(before.id, wanted);
    if (result === "not_found") return notFound("account", idOrName);
    if (result === "overdrawn") throw overdrawn(before, wanted);
    return result;
  }

  return {
    updateAccount: async (idOrName: string, terms: AccountTerms) =>
      change(idOrName, checkAccountTerms(terms)),
    suspendAccount: (idOrName: string) => change(idOrName, { status: "suspended" }),
    activateAccount: (idOrName: string) => change(idOrName, { status: "active" }),

    async creditAccount(idOrName: string, amount: Micros, { reason, actor }: Movement): Promise<Account> {
      if (amount === 0) throw invalid("amount", "An amount of zero changes nothing.");
      checkReason(reason);
      const { id } = await findAccount(deps, idOrName);
      const result = await accounts.credit(id, amount, reason, actor, clock.now());
      if (result.kind === "credited") return result.account;
      if (result.kind === "not_found") return notFound("account", idOrName);
      throw notCredited(result.account, result.kind, amount);
    },

    async refundTask(task: string, { amount, reason, actor }: Movement & { amount?: Micros | undefined }) {
      if (amount !== undefined && amount <= 0) {
        throw invalid("amount", `amount must be above zero, got ${formatAmount(amount)}.`);
      }
      checkReason(reason);
      if (!isId("task", task)) return notFound("task", task);
      const result = await accounts.refund(task, amount, reason, actor, clock.now());
      if (result.kind === "not_found") return notFound("task", task);
      if (result.kind !== "refunded") throw notRefunded(task, result, amount);
      const refunded: Refunded = { taskId: task, amount: result.amount, account: result.account };
      return refunded;
    },

    async readLedger(
      idOrName: string,
      { limit, before }: { readonly limit: number; readonly before?: number | undefined },
    ): Promise<LedgerPage> {
      const account = await findAccount(deps, idOrName);
      // One more than wanted tells whether there is another page.
      const found = await accounts.ledgerPage(account.id, { limit: limit + 1, before });
      const rows = found.slice(0, limit);
      return { account, rows, next: found.length > limit ? rows.at(-1)?.number : undefined };
    },
  };
}

function overdrawn(account: Account, { creditLimit = account.creditLimit }: AccountChange) {
  const { balance, held } = account;
  const short = toMicros(held - balance - creditLimit);
  return invalid(
    "credit_limit",
    `credit_limit must be at least ${formatAmount(toMicros(held - balance))} for this account to be prepaid, got ${formatAmount(creditLimit)}: it has ${formatAmount(balance)} ${CURRENCY} with ${formatAmount(held)} held. Credit ${formatAmount(short)} first, or raise the limit.`,
  );
}

function notCredited(
  { balance, held, creditLimit }: Account,
  why: "too_low" | "uncountable",
  amount: Micros,
): AppError {
  return why === "too_low"
    ? new AppError("invalid_request", { kind: "balance_too_low", balance, held, creditLimit, amount })
    : new AppError("invalid_request", { kind: "balance_uncountable", field: "amount", balance, amount });
}

function notRefunded(
  task: TaskId,
  result: Exclude<Refund, { kind: "refunded" | "not_found" }>,
  amount: Micros | undefined,
) {
  switch (result.kind) {
    case "too_much":
      return invalid(
        "amount",
        `amount must be at most the ${formatAmount(result.charged)} ${CURRENCY} that the task was charged, got ${formatAmount(amount ?? result.charged)}.`,
      );
    case "not_charged":
      return invalid("task", `The task ${quote(task)} was charged nothing that could be given back.`);
    case "already_refunded":
      return invalid("task", `The task ${quote(task)} was refunded already, which is done once.`);
  }
}

function checkReason(reason: string): void {
  const length = [...reason].length;
  if (length < 1 || length > MAX_REASON_LENGTH) {
    throw invalid("reason", `reason must have 1 to ${MAX_REASON_LENGTH} characters, got ${length}.`);
  }
  if (CONTROL.test(reason)) throw invalid("reason", "reason must not hold control characters.");
}
