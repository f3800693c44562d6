import { ALL_SCOPES } from "../../domain/access/token-terms.ts";
import { contract, jsonBody, succeeds } from "../openapi/contract.ts";
import { closed, component, list, nullable, openEnum, text } from "../wire/schema.ts";
import { idOf, unixSeconds } from "../wire/values.ts";

const SECRET = { minLength: 1, maxLength: 200 };

/** One of the two. */
export const NEW_SESSION = {
  ...closed(
    {
      credential: text("An API key or a management token.", SECRET),
      link: text("What follows `#link=` in a link to the console, which works once.", SECRET),
    },
    { optional: ["credential", "link"] },
  ),
  minProperties: 1,
  maxProperties: 1,
};

const SESSION = component("ConsoleSession", {
  id: idOf("ses", "Id of the session."),
  role: text("Whose screens it has: those of an API key, or those of a management token.", {
    enum: ["tenant", "operator"],
  }),
  holder: closed(
    { id: text("Its id."), name: text("What people call it.") },
    { description: "The key or token that it acts as." },
  ),
  account_id: nullable(idOf("acc", "The key's account; null for a token.")),
  scopes: list(openEnum(ALL_SCOPES, "One thing that the token may do."), {
    description: "What it may do; none for a key.",
  }),
  expires_at: unixSeconds("When it ends."),
});

const WHO = closed({
  session: nullable(SESSION),
  version: text("Of the program."),
});

const OWN_PAGE = "Taken from pages of this service only, by `Sec-Fetch-Site` or `Origin`.";
const COOKIES = ["Set-Cookie"] as const;

export const READ_SESSION = contract("readConsoleSession", "Console", "Who has come in", {
  description: "`session` is null for a browser that has none, or whose session is over.",
  answers: succeeds("Who it is.", WHO),
  errors: ["invalid_api_key", "service_unavailable"],
});

export const OPEN_SESSION = contract("openConsoleSession", "Console", "Come in", {
  description: `Exchanges a credential, or a link that works once, for a session in a cookie that scripts cannot read. With it the browser may ask everything below \`/v1\` or \`/admin/v1\` that the key or token may, never beside another credential. It ends after twelve hours, by \`DELETE\`, or when its key or token is refused. ${OWN_PAGE}`,
  body: jsonBody(NEW_SESSION),
  answers: succeeds("Who it is.", WHO, COOKIES),
  errors: ["invalid_api_key", "permission_denied", "rate_limit_exceeded", "service_unavailable"],
});

export const END_SESSION = contract("endConsoleSession", "Console", "Leave", {
  description: `Ends the browser's session, if it has one. ${OWN_PAGE}`,
  answers: succeeds("Nobody is there.", closed({}), COOKIES),
  errors: ["invalid_api_key", "permission_denied", "service_unavailable"],
});
