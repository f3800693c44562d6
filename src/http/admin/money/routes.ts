import { accountForm, usageForm } from "../../../domain/access/record-form.ts";
import type { ListQuery } from "../../../domain/lists.ts";
import { CURRENCY } from "../../../domain/money/money.ts";
import type { ManageAs } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, type LateAnswerDeps, managed } from "../../exchange.ts";
import { idempotencyKeyOf } from "../../idempotency-key.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { readUsageQuery, type UsageParameters } from "../../wire/usage.ts";
import { amountOf } from "../fields.ts";
import { presentLedger, presentQuota, presentRefund } from "./present.ts";
import { CREDIT, DEFAULT_PAGE, LEDGER_QUERY, MONEY, QUOTAS_QUERY, REFUND, USAGE_QUERY } from "./wire.ts";

interface MoneyEndpointDeps extends Pick<LateAnswerDeps, "keepOpen"> {
  readonly manageAs: ManageAs;
}

/** The part of /admin/v1/* that moves accounts' money or reports about it. The ledger names the token that moved money. */
export function moneyEndpoints({ manageAs, keepOpen }: MoneyEndpointDeps): Endpoint[] {
  return [
    managed("POST", "/admin/v1/accounts/:id/credit", MONEY.credit, async (exchange) => {
      const { param, operator } = exchange;
      const { amount, reason } = await readBody<{ amount: string; reason: string }>(exchange, CREDIT);
      const idempotencyKey = idempotencyKeyOf(exchange.request);
      const movement = { reason, idempotencyKey };
      const account = await manageAs(operator).creditAccount(
        param("id"),
        amountOf("amount", amount),
        movement,
      );
      return success(accountForm(account));
    }),
    managed("GET", "/admin/v1/accounts/:id/ledger", MONEY.ledger, async ({ operator, param, query }) => {
      const { limit = DEFAULT_PAGE, before } = checkQuery(LEDGER_QUERY, query()) as LedgerQuery;
      const page = { limit, before: before === undefined ? undefined : Number(before) };
      return success(presentLedger(await manageAs(operator).readLedger(param("id"), page)));
    }),
    managed("GET", "/admin/v1/quotas", MONEY.quotas, async ({ operator, query }) => {
      const { key_id: key, ...asked } = checkQuery(QUOTAS_QUERY, query()) as QuotasQuery;
      const { items, next } = await manageAs(operator).listQuotas({ ...asked, key });
      return success({ currency: CURRENCY, quotas: items.map(presentQuota), next: next ?? null });
    }),
    managed("POST", "/admin/v1/tasks/:id/refund", MONEY.refund, async (exchange) => {
      const { param, operator } = exchange;
      const { amount, reason } = await readBody<{ amount?: string; reason: string }>(exchange, REFUND);
      const movement = { reason, amount: amountOf("amount", amount) };
      return success(presentRefund(await manageAs(operator).refundTask(param("id"), movement)));
    }),
    managed("GET", "/admin/v1/usage", MONEY.usage, async ({ operator, query, request }) => {
      // Summing up millions of tasks takes longer than a connection may be silent.
      keepOpen(request);
      const { account, ...asked } = checkQuery(USAGE_QUERY, query()) as UsageQuery;
      return success(usageForm(await manageAs(operator).readUsage({ account, ...readUsageQuery(asked) })));
    }),
  ];
}

type LedgerQuery = { limit?: number; before?: string };
type QuotasQuery = ListQuery & { account?: string; key_id?: string };
type UsageQuery = UsageParameters & { account?: string };
