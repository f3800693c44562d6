import { ACCOUNT_TERMS, type AccountMode } from "../../../domain/access/account-terms.ts";
import { accountForm } from "../../../domain/access/record-form.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import type { Endpoint } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { amountOf } from "../fields.ts";
import { managed } from "../managed.ts";
import { readTerms } from "../terms.ts";
import {
  ACCOUNT_CHANGE,
  ACTIVATE_ACCOUNT,
  CREATE_ACCOUNT,
  LIST_ACCOUNTS,
  NEW_ACCOUNT,
  READ_ACCOUNT,
  SUSPEND_ACCOUNT,
  UPDATE_ACCOUNT,
} from "./wire.ts";

/** /admin/v1/accounts. */
export function managedAccountEndpoints({ manage }: { readonly manage: ManageAccounts }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/accounts", LIST_ACCOUNTS, async () =>
      success({ accounts: (await manage.listAccounts()).map(accountForm) }),
    ),
    managed("POST", "/admin/v1/accounts", CREATE_ACCOUNT, async ({ request, operator }) => {
      const body = await readBody<{ name: string; mode?: AccountMode; credit?: string }>(
        request,
        NEW_ACCOUNT,
      );
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
      const terms = readTerms(ACCOUNT_TERMS, await readBody<object>(request, ACCOUNT_CHANGE));
      return success(accountForm(await manage.updateAccount(param("id"), terms)));
    }),
    managed("POST", "/admin/v1/accounts/:id/suspend", SUSPEND_ACCOUNT, async ({ param }) =>
      success(accountForm(await manage.suspendAccount(param("id")))),
    ),
    managed("POST", "/admin/v1/accounts/:id/activate", ACTIVATE_ACCOUNT, async ({ param }) =>
      success(accountForm(await manage.activateAccount(param("id")))),
    ),
  ];
}
