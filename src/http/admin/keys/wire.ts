import { KEY_TERMS } from "../../../domain/access/key-policy.ts";
import { MAX_GRACE_SEC, NEW_SECRET } from "../../../service/callback-secret.ts";
import { jsonBody } from "../../openapi/contract.ts";
import {
  closed,
  component,
  flag,
  idOf,
  integer,
  list,
  nullable,
  type Properties,
  type Schema,
  text,
  unixSeconds,
} from "../../wire/schema.ts";
import { DISPLAY, NAME, statusOf } from "../fields.ts";
import { byIdOrName, managedContract, NOT_FOUND } from "../managed.ts";
import { termAnswers, termRequests } from "../terms.ts";

const TERMS = {
  ...termRequests(KEY_TERMS),
  callback_secret: {
    type: ["string", "null"],
    "x-must": `be "${NEW_SECRET}", null, or whsec_ and 24 to 64 bytes in base64`,
    description: `What the key's callbacks are signed with (Standard Webhooks): "${NEW_SECRET}" for one that is made, or whsec_ and 24 to 64 bytes in base64; null: they are not signed.`,
  },
};

const grace = (description: string) =>
  integer(description, { minimum: 0, maximum: MAX_GRACE_SEC, default: 0 });

/** A term that is absent is as if it were null. */
export const NEW_KEY = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: NAME,
    account: { type: "string", maxLength: 200, description: "Id or name of the account; default: default." },
    ...TERMS,
  },
} as const;

/** What is absent stays as it is. */
export const KEY_CHANGE = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    ...TERMS,
    callback_secret_grace_seconds: grace("How long the callback secret that is replaced signs too."),
  },
} as const;

export const ROTATION = {
  type: "object",
  additionalProperties: false,
  properties: { grace_seconds: grace("How long the secret that is replaced is still taken.") },
} as const;

/** Which keys are listed. */
export const KEYS_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { account: { type: "string", description: "Id or name of the account whose keys to list." } },
} as const;

const FIELDS: Properties = {
  id: idOf("key", "Id of the key."),
  name: text("What people call it."),
  account_id: idOf("acc", "The account it belongs to."),
  display: DISPLAY,
  status: statusOf("active", "expired", "revoked"),
  created_at: unixSeconds("When it was made."),
  revoked_at: nullable(unixSeconds("When it was revoked.")),
  signs_callbacks: flag("Whether its callbacks are signed."),
  previous: nullable(
    closed(
      { display: DISPLAY, expires_at: unixSeconds("Until when it is taken.") },
      { description: "The secret before the last rotation." },
    ),
  ),
  ...termAnswers(KEY_TERMS),
};

/** Beside a key's fields, where a secret was made for its callbacks. */
const MADE = {
  callback_secret: text("Only where one was made: what callbacks are signed with, shown this once."),
};
const OPTIONAL = { optional: Object.keys(MADE) };
const KEY: Schema = component("ApiKey", FIELDS);
const CHANGED: Schema = component("ChangedApiKey", { ...FIELDS, ...MADE }, OPTIONAL);
const WITH_SECRET: Schema = component(
  "ApiKeyWithSecret",
  { ...FIELDS, key: text("The key itself, shown this once."), ...MADE },
  OPTIONAL,
);

export const LIST_KEYS = managedContract(
  "listKeys",
  "List API keys, revoked ones included",
  closed({ keys: list(KEY) }),
  { query: KEYS_QUERY, ...NOT_FOUND },
);
export const CREATE_KEY = managedContract("createKey", "Make an API key", WITH_SECRET, {
  description: "The key itself is in this answer and nowhere else.",
  body: jsonBody(NEW_KEY),
  ...NOT_FOUND,
});
export const READ_KEY = managedContract("readKey", "Read an API key", KEY, { path: byIdOrName("key") });
export const UPDATE_KEY = managedContract("updateKey", "Change what an API key may do", CHANGED, {
  description: "What is absent stays as it is; null lifts a limit, and ends the signing of callbacks.",
  path: byIdOrName("key"),
  body: jsonBody(KEY_CHANGE),
});
export const ROTATE_KEY = managedContract("rotateKey", "Give an API key a new secret", WITH_SECRET, {
  path: byIdOrName("key"),
  body: jsonBody(ROTATION),
});
export const REVOKE_KEY = managedContract("revokeKey", "Refuse an API key from now on", KEY, {
  path: byIdOrName("key"),
});
