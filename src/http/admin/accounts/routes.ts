import { ACCOUNT_TERMS, type AccountMode } from "../../../domain/access/account-terms.ts";
import { accountForm } from "../../../domain/access/record-form.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { amountOf } from "../fields.ts";
import { readTerms } from "../terms.ts";
import { ACCOUNT_CHANGE, ACCOUNTS, NEW_ACCOUNT } from "./wire.ts";

type NewAccountBody = { name: string; mode?: AccountMode; credit?: string };

/** /admin/v1/accounts. */
export function managedAccountEndpoints({ manage }: { readonly manage: ManageAccounts }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/accounts", ACCOUNTS.list, async () =>
      success({ accounts: (await manage.listAccounts()).map(accountForm) }),
    ),
    managed("POST", "/admin/v1/accounts", ACCOUNTS.create, async (exchange) => {
      const { name, mode, credit } = await readBody<NewAccountBody>(exchange, NEW_ACCOUNT);
      const given = { name, mode, credit: amountOf("credit", credit), actor: exchange.operator.tokenId };
      return success(accountForm(await manage.createAccount(given)));
    }),
    managed("GET", "/admin/v1/accounts/:id", ACCOUNTS.read, async ({ param }) =>
      success(accountForm(await manage.readAccount(param("id")))),
    ),
    managed("PATCH", "/admin/v1/accounts/:id", ACCOUNTS.update, async (exchange) => {
      const terms = readTerms(ACCOUNT_TERMS, await readBody<object>(exchange, ACCOUNT_CHANGE));
      return success(accountForm(await manage.updateAccount(exchange.param("id"), terms)));
    }),
    managed("POST", "/admin/v1/accounts/:id/suspend", ACCOUNTS.suspend, async ({ param }) =>
      success(accountForm(await manage.suspendAccount(param("id")))),
    ),
    managed("POST", "/admin/v1/accounts/:id/activate", ACCOUNTS.activate, async ({ param }) =>
      success(accountForm(await manage.activateAccount(param("id")))),
    ),
  ];
}
