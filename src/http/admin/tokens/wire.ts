import { ALL_SCOPES, TOKEN_TERMS } from "../../../domain/access/token-terms.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, list, nullable, openEnum, optional, requiring, text } from "../../wire/schema.ts";
import { idOf, unixSeconds } from "../../wire/values.ts";
import { byIdOrName, contract } from "../contract.ts";
import { DISPLAY, NAME, statusOf } from "../fields.ts";
import { NEXT, ORDER, pageParameters } from "../lists.ts";
import { termRequests } from "../terms.ts";

export const NEW_TOKEN = requiring(["name"], { name: NAME, ...termRequests(TOKEN_TERMS) });

/** Which tokens are listed. */
export const TOKENS_QUERY = optional({ ...pageParameters("Tokens"), ...ORDER });

const FIELDS = {
  id: idOf("tok", "Id of the token."),
  name: text("What people call it."),
  display: DISPLAY,
  status: statusOf("active", "expired", "revoked"),
  scopes: list(openEnum(ALL_SCOPES, "One thing that the token may do."), { description: "What it may do." }),
  created_at: unixSeconds("When it was made."),
  expires_at: nullable(unixSeconds("From when on it is refused; null: never.")),
  last_used_at: nullable(unixSeconds("When it was taken last, to within a minute; null: never.")),
  revoked_at: nullable(unixSeconds("When it was revoked.")),
};
const TOKEN = component("ManagementToken", FIELDS);
const WITH_SECRET = component("ManagementTokenWithSecret", {
  ...FIELDS,
  token: text("The token itself, shown this once."),
});

export const TOKENS = {
  own: contract("readOwnToken", "Read the management token that asks", TOKEN),
  list: contract("listTokens", "List management tokens", closed({ tokens: list(TOKEN), next: NEXT }), {
    description:
      "In the order in which they were made, the oldest first unless asked otherwise, revoked ones included.",
    query: TOKENS_QUERY,
  }),
  create: contract("createToken", "Make a management token", WITH_SECRET, {
    description:
      "The token itself is in this answer and nowhere else. A token can make none that may do more than itself, and none that outlives it.",
    errors: ["permission_denied"],
    body: jsonBody(NEW_TOKEN),
  }),
  revoke: contract("revokeToken", "Refuse a management token from now on", TOKEN, byIdOrName("token")),
};
