import { tokenForm } from "../../../domain/access/record-form.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import type { Endpoint } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { managed } from "../managed.ts";
import { CREATE_TOKEN, LIST_TOKENS, NEW_TOKEN, REVOKE_TOKEN } from "./wire.ts";

/** /admin/v1/tokens. */
export function tokenEndpoints({ manage }: { readonly manage: ManageAccounts }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/tokens", LIST_TOKENS, async () =>
      success({ tokens: (await manage.listTokens()).map(tokenForm) }),
    ),
    managed("POST", "/admin/v1/tokens", CREATE_TOKEN, async ({ request }) => {
      const { token, record } = await manage.createToken(
        await readBody<{ name: string }>(request, NEW_TOKEN),
      );
      return success({ ...tokenForm(record), token });
    }),
    managed("POST", "/admin/v1/tokens/:id/revoke", REVOKE_TOKEN, async ({ param }) =>
      success(tokenForm(await manage.revokeToken(param("id")))),
    ),
  ];
}
