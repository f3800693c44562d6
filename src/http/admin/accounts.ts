import type { AccountMode } from "../../domain/access/account.ts";
import { accountForm, usageForm } from "../../domain/access/record-form.ts";
import { AppError } from "../../domain/errors.ts";
import type { UsageGroup } from "../../domain/money/usage.ts";
import { parseDay } from "../../domain/money/usage.ts";
import type { ManageAccounts } from "../../service/manage-account.ts";
import type { Endpoint } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import {
  ACTIVATE_ACCOUNT,
  CREATE_ACCOUNT,
  CREDIT_ACCOUNT,
  LIST_ACCOUNTS,
  READ_ACCOUNT,
  READ_LEDGER,
  READ_USAGE,
  REFUND_TASK,
  SUSPEND_ACCOUNT,
  UPDATE_ACCOUNT,
} from "./contracts.ts";
import { amountOf, managed, multiplierOf, read } from "./managed.ts";
import { presentLedger, presentRefund } from "./present.ts";
import {
  ACCOUNT_CHANGE,
  CREDIT,
  DEFAULT_PAGE,
  LEDGER_QUERY,
  NEW_ACCOUNT,
  REFUND,
  USAGE_QUERY,
} from "./wire.ts";

/** The part of /admin/v1/* that is about accounts and their money. Whoever moves money is named by the token's id. */
export function managedAccountEndpoints({ manage }: { readonly manage: ManageAccounts }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/accounts", LIST_ACCOUNTS, async () =>
      success({ accounts: (await manage.listAccounts()).map(accountForm) }),
    ),
    managed("POST", "/admin/v1/accounts", CREATE_ACCOUNT, async ({ request, operator }) => {
      const body = await read<{ name: string; mode?: AccountMode; credit?: string }>(request, NEW_ACCOUNT);
      const { name, mode } = body;
      const credit = amountOf("credit", body.credit);
      return success(
        accountForm(await manage.createAccount({ name, mode, credit, actor: operator.tokenId })),
      );
    }),
    managed("GET", "/admin/v1/accounts/:id", READ_ACCOUNT, async ({ param }) =>
      success(accountForm(await manage.readAccount(param("id")))),
    ),
    managed("PATCH", "/admin/v1/accounts/:id", UPDATE_ACCOUNT, async ({ request, param }) => {
      const body = await read<AccountBody>(request, ACCOUNT_CHANGE);
      const terms = {
        mode: body.mode,
        creditLimit: amountOf("credit_limit", body.credit_limit),
        priceMultiplier: multiplierOf("price_multiplier", body.price_multiplier),
        lowBalance: amountOf("low_balance", body.low_balance),
      };
      return success(accountForm(await manage.updateAccount(param("id"), terms)));
    }),
    managed("POST", "/admin/v1/accounts/:id/suspend", SUSPEND_ACCOUNT, async ({ param }) =>
      success(accountForm(await manage.suspendAccount(param("id")))),
    ),
    managed("POST", "/admin/v1/accounts/:id/activate", ACTIVATE_ACCOUNT, async ({ param }) =>
      success(accountForm(await manage.activateAccount(param("id")))),
    ),
    managed("POST", "/admin/v1/accounts/:id/credit", CREDIT_ACCOUNT, async ({ request, param, operator }) => {
      const { amount, reason } = await read<{ amount: string; reason: string }>(request, CREDIT);
      const movement = { reason, actor: operator.tokenId };
      const account = await manage.creditAccount(param("id"), amountOf("amount", amount), movement);
      return success(accountForm(account));
    }),
    managed("GET", "/admin/v1/accounts/:id/ledger", READ_LEDGER, async ({ param, query }) => {
      const { limit = DEFAULT_PAGE, before } = checkQuery(LEDGER_QUERY, query()) as LedgerQuery;
      const page = { limit, before: before === undefined ? undefined : Number(before) };
      return success(presentLedger(await manage.readLedger(param("id"), page)));
    }),
    managed("POST", "/admin/v1/tasks/:id/refund", REFUND_TASK, async ({ request, param, operator }) => {
      const { amount, reason } = await read<{ amount?: string; reason: string }>(request, REFUND);
      const movement = { reason, actor: operator.tokenId, amount: amountOf("amount", amount) };
      return success(presentRefund(await manage.refundTask(param("id"), movement)));
    }),
    managed("GET", "/admin/v1/usage", READ_USAGE, async ({ query }) => {
      const { by, since, until, account } = checkQuery(USAGE_QUERY, query()) as UsageQuery;
      const days = { since: dayAt("since", since), until: dayAt("until", until) };
      return success(usageForm(await manage.readUsage({ by, account, ...days })));
    }),
  ];
}

interface AccountBody {
  readonly mode?: AccountMode;
  readonly credit_limit?: string | null;
  readonly price_multiplier?: string | null;
  readonly low_balance?: string | null;
}

interface LedgerQuery {
  readonly limit?: number;
  readonly before?: string;
}

interface UsageQuery {
  readonly by?: UsageGroup;
  readonly since?: string;
  readonly until?: string;
  readonly account?: string;
}

function dayAt(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const day = parseDay(text);
  if (day !== undefined) return day;
  throw new AppError(
    "invalid_request",
    `${field} must be a day like 2026-11-01, got "${text.slice(0, 80)}".`,
    { param: field },
  );
}
