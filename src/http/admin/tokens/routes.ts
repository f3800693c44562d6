import type { ManagementToken } from "../../../domain/access/account.ts";
import { tokenForm } from "../../../domain/access/record-form.ts";
import { TOKEN_TERMS } from "../../../domain/access/token-terms.ts";
import type { ListQuery } from "../../../domain/lists.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { ManageAs } from "../../../service/manage-account.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { listed } from "../lists.ts";
import { readTerms } from "../terms.ts";
import { NEW_TOKEN, TOKENS, TOKENS_QUERY } from "./wire.ts";

interface TokenEndpointDeps {
  readonly manageAs: ManageAs;
  readonly clock: Pick<Clock, "now">;
}

/** /admin/v1/tokens. */
export function tokenEndpoints({ manageAs, clock }: TokenEndpointDeps): Endpoint[] {
  const present = (token: ManagementToken) => tokenForm(token, clock.now());
  return [
    managed("GET", "/admin/v1/token", TOKENS.own, async ({ operator }) =>
      success(present(await manageAs(operator).showToken(operator.tokenId))),
    ),
    managed("GET", "/admin/v1/tokens", TOKENS.list, async ({ operator, query }) => {
      const page = checkQuery(TOKENS_QUERY, query()) as ListQuery;
      return listed("tokens", manageAs(operator).listTokens(page), present);
    }),
    managed("POST", "/admin/v1/tokens", TOKENS.create, async (exchange) => {
      const body = await readBody<{ name: string }>(exchange, NEW_TOKEN);
      const asked = { ...readTerms(TOKEN_TERMS, body), name: body.name };
      const { token, record } = await manageAs(exchange.operator).createToken(asked);
      return success({ ...present(record), token });
    }),
    managed("POST", "/admin/v1/tokens/:id/revoke", TOKENS.revoke, async ({ operator, param }) =>
      success(present(await manageAs(operator).revokeToken(param("id")))),
    ),
  ];
}
