import { MAX_IDEMPOTENCY_KEY, MAX_LIST_LIMIT } from "../../../domain/limits.ts";
import type { LedgerKind } from "../../../domain/money/ledger.ts";
import { QUOTA_RESETS } from "../../../domain/money/quota.ts";
import { MOST_USAGE_LINES, USAGE_GROUPS } from "../../../domain/money/usage.ts";
import { MAX_REASON_LENGTH } from "../../../service/manage-money.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, integer, list, nullable, optional, requiring, text } from "../../wire/schema.ts";
import { usageParameters } from "../../wire/usage.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../../wire/values.ts";
import { ACCOUNT } from "../accounts/wire.ts";
import { byIdOrName, contract, NOT_FOUND } from "../contract.ts";
import { AMOUNT, CURRENCY_FIELD } from "../fields.ts";
import { NEXT, pageParameters } from "../lists.ts";

const REASON = text("Why, for the ledger.", { minLength: 1, maxLength: MAX_REASON_LENGTH });

export const CREDIT = requiring(["amount", "reason"], {
  amount: { ...AMOUNT, description: "Added to the balance; below zero it is taken from it." },
  currency: CURRENCY_FIELD,
  reason: REASON,
});

const IDEMPOTENCY_KEY = text("Names this credit; the same key with another amount or reason is refused.", {
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY,
});

export const REFUND = requiring(["reason"], {
  amount: { ...AMOUNT, description: "Given back; all that was charged unless given." },
  currency: CURRENCY_FIELD,
  reason: REASON,
});

/** Entries in a page unless said otherwise. */
export const DEFAULT_PAGE = 20;

/** Which part of a ledger is listed. */
export const LEDGER_QUERY = optional({
  limit: integer("Entries in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_PAGE }),
  before: text("`next` of the page before.", { pattern: "^\\d{1,15}$" }),
});

/** What usage is asked for. */
export const USAGE_QUERY = optional({
  ...usageParameters(USAGE_GROUPS),
  account: text("Id or name of one account; all unless given.", { maxLength: 200 }),
});

const LEDGER_KINDS: readonly LedgerKind[] = ["credit", "hold", "capture", "release", "refund", "adjustment"];
const LEDGER = component("Ledger", {
  currency: CURRENCY_SCHEMA,
  entries: list(
    closed({
      at: unixSeconds("When it was written."),
      kind: text("What happened.", { enum: LEDGER_KINDS }),
      balance_delta: amount("Added to the balance."),
      held_delta: amount("Added to what is held."),
      balance: amount("The balance after it."),
      task_id: nullable(idOf("task", "The task it is about.")),
      entries: nullable(
        integer("Of how many entries of deleted tasks this one is the sum; null: it is none.", {
          minimum: 1,
        }),
      ),
      reason: text("Why."),
      actor: text("Who: the id of a key or a token, `operator` on the data folder, or `system`."),
    }),
  ),
  next: nullable(text("Give as `before` for the next page; null on the last.")),
});
const REFUNDED = component("Refund", {
  task_id: idOf("task", "The task."),
  refunded: amount("Given back."),
  currency: CURRENCY_SCHEMA,
  account: ACCOUNT,
});

const USAGE_SUM = {
  completed: integer("Tasks that were completed.", { minimum: 0 }),
  failed: integer("Tasks that failed.", { minimum: 0 }),
  cancelled: integer("Tasks that were cancelled.", { minimum: 0 }),
  outputs: integer("Images and videos made.", { minimum: 0 }),
  resubmitted: integer("Submissions that got no answer and were made again (`on_unknown: resubmit`).", {
    minimum: 0,
  }),
  charged: amount("What was charged, before refunds."),
  upstream_cost: nullable(amount("What upstreams charged the operator; null: not known.")),
  margin: nullable(amount("What was charged for the tasks whose cost is known, less that. Before refunds.")),
};
const USAGE = component("Usage", {
  by: text("What each row is of."),
  since: text("First day, UTC."),
  until: text("Last day, UTC."),
  currency: CURRENCY_SCHEMA,
  rows: list(
    closed(
      {
        day: text("By day: the day."),
        model: text("By model: its id."),
        provider: text("By provider: the lane of the account that had the tasks last."),
        account_id: idOf("acc", "By account and by key: the account."),
        account: text("Its name."),
        key_id: idOf("key", "By key: its id."),
        key: text("Its name."),
        ...USAGE_SUM,
      },
      { optional: ["day", "model", "provider", "account_id", "account", "key_id", "key"] },
    ),
  ),
  total: closed(USAGE_SUM),
});

const QUOTAS = closed({
  currency: CURRENCY_SCHEMA,
  quotas: list(
    closed({
      key_id: idOf("key", "Id of the key."),
      key: text("Its name."),
      account_id: idOf("acc", "The account it belongs to."),
      account: text("Its name."),
      limit: amount("What the key may spend."),
      used: amount("Charged in the period."),
      reserved: amount("Of it, held for tasks under way."),
      remaining: amount("Of it, left."),
      reset: text("How often it begins anew, in UTC.", { enum: QUOTA_RESETS }),
      resets_at: nullable(unixSeconds("When it begins anew; null: never.")),
    }),
  ),
  next: NEXT,
});

/** Whose quotas are listed. */
export const QUOTAS_QUERY = optional({
  account: text("Id or name of one account; all unless given.", { maxLength: 200 }),
  key_id: text("Id of one key; all unless given.", { maxLength: 200 }),
  ...pageParameters("Quotas"),
});

const ONE = byIdOrName("account");

export const MONEY = {
  credit: contract("creditAccount", "Add to an account's balance, or take from it", ACCOUNT, {
    description:
      "With an `Idempotency-Key` it may be sent again at any time: it counts once for each account and key.",
    ...ONE,
    headers: { "Idempotency-Key": IDEMPOTENCY_KEY },
    body: jsonBody(CREDIT),
    errors: ["not_found", "invalid_request", "invalid_idempotency_key", "idempotency_conflict"],
  }),
  ledger: contract("readLedger", "Read an account's ledger, newest first", LEDGER, {
    ...ONE,
    query: LEDGER_QUERY,
  }),
  quotas: contract("listQuotas", "List what is left of the quotas of active keys", QUOTAS, {
    description:
      "The key with the smallest share left comes first; with `limit` or `after`, they come in the order in which keys were made. Keys without a quota are not in it.",
    query: QUOTAS_QUERY,
    ...NOT_FOUND,
  }),
  refund: contract("refundTask", "Give back what a task was charged", REFUNDED, {
    description: "In whole or in part, once for each task. Usage and quotas go on to count what was charged.",
    path: { id: idOf("task", "Public id of the task.") },
    body: jsonBody(REFUND),
  }),
  usage: contract("readUsage", "Sum up what tasks came to", USAGE, {
    description: `Of the tasks that ended on the days asked for, in UTC. Refunds are not in it. At most ${MOST_USAGE_LINES} rows. By provider every task is read; there, a deleted task counts as completed if it had results, and else as failed.`,
    query: USAGE_QUERY,
    ...NOT_FOUND,
  }),
};
