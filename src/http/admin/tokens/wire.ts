import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, list, nullable, text } from "../../wire/schema.ts";
import { idOf, unixSeconds } from "../../wire/values.ts";
import { byIdOrName, contract } from "../contract.ts";
import { DISPLAY, NAME, statusOf } from "../fields.ts";

export const NEW_TOKEN = closed({ name: NAME });

const FIELDS = {
  id: idOf("tok", "Id of the token."),
  name: text("What people call it."),
  display: DISPLAY,
  status: statusOf("active", "revoked"),
  created_at: unixSeconds("When it was made."),
  revoked_at: nullable(unixSeconds("When it was revoked.")),
};
const TOKEN = component("ManagementToken", FIELDS);
const WITH_SECRET = component("ManagementTokenWithSecret", {
  ...FIELDS,
  token: text("The token itself, shown this once."),
});

export const TOKENS = {
  list: contract("listTokens", "List management tokens", closed({ tokens: list(TOKEN) })),
  create: contract("createToken", "Make a management token", WITH_SECRET, {
    description: "The token itself is in this answer and nowhere else.",
    body: jsonBody(NEW_TOKEN),
  }),
  revoke: contract("revokeToken", "Refuse a management token from now on", TOKEN, byIdOrName("token")),
};
