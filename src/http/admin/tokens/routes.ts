import { tokenForm } from "../../../domain/access/record-form.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { NEW_TOKEN, TOKENS } from "./wire.ts";

/** /admin/v1/tokens. */
export function tokenEndpoints({ manage }: { readonly manage: ManageAccounts }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/tokens", TOKENS.list, async () =>
      success({ tokens: (await manage.listTokens()).map(tokenForm) }),
    ),
    managed("POST", "/admin/v1/tokens", TOKENS.create, async (exchange) => {
      const asked = await readBody<{ name: string }>(exchange, NEW_TOKEN);
      const { token, record } = await manage.createToken(asked);
      return success({ ...tokenForm(record), token });
    }),
    managed("POST", "/admin/v1/tokens/:id/revoke", TOKENS.revoke, async ({ param }) =>
      success(tokenForm(await manage.revokeToken(param("id")))),
    ),
  ];
}
