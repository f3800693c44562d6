import { ACCOUNT_TERMS, type AccountMode } from "../../../domain/access/account-terms.ts";
import { accountForm } from "../../../domain/access/record-form.ts";
import type { ListQuery } from "../../../domain/lists.ts";
import type { ManageAs } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { amountOf } from "../fields.ts";
import { listed } from "../lists.ts";
import { readTerms } from "../terms.ts";
import { ACCOUNT_CHANGE, ACCOUNTS, ACCOUNTS_QUERY, NEW_ACCOUNT } from "./wire.ts";

type NewAccountBody = { name: string; mode?: AccountMode; credit?: string };

/** /admin/v1/accounts. */
export function managedAccountEndpoints({ manageAs }: { readonly manageAs: ManageAs }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/accounts", ACCOUNTS.list, async ({ operator, query }) => {
      const page = checkQuery(ACCOUNTS_QUERY, query()) as ListQuery;
      return listed("accounts", manageAs(operator).listAccounts(page), accountForm);
    }),
    managed("POST", "/admin/v1/accounts", ACCOUNTS.create, async (exchange) => {
      const { name, mode, credit } = await readBody<NewAccountBody>(exchange, NEW_ACCOUNT);
      const given = { name, mode, credit: amountOf("credit", credit) };
      return success(accountForm(await manageAs(exchange.operator).createAccount(given)));
    }),
    managed("GET", "/admin/v1/accounts/:id", ACCOUNTS.read, async ({ operator, param }) =>
      success(accountForm(await manageAs(operator).readAccount(param("id")))),
    ),
    managed("PATCH", "/admin/v1/accounts/:id", ACCOUNTS.update, async (exchange) => {
      const terms = readTerms(ACCOUNT_TERMS, await readBody<object>(exchange, ACCOUNT_CHANGE));
      return success(
        accountForm(await manageAs(exchange.operator).updateAccount(exchange.param("id"), terms)),
      );
    }),
    managed("POST", "/admin/v1/accounts/:id/suspend", ACCOUNTS.suspend, async ({ operator, param }) =>
      success(accountForm(await manageAs(operator).suspendAccount(param("id")))),
    ),
    managed("POST", "/admin/v1/accounts/:id/activate", ACCOUNTS.activate, async ({ operator, param }) =>
      success(accountForm(await manageAs(operator).activateAccount(param("id")))),
    ),
  ];
}
