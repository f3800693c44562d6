import { KEY_TERMS } from "../../../domain/access/key-policy.ts";
import { MAX_GRACE_SEC, NEW_SECRET } from "../../../service/key-terms.ts";
import { jsonBody } from "../../openapi/contract.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  optional,
  requiring,
  text,
} from "../../wire/schema.ts";
import { amount, idOf, unixSeconds } from "../../wire/values.ts";
import { byIdOrName, contract, NOT_FOUND } from "../contract.ts";
import { DISPLAY, NAME, statusOf } from "../fields.ts";
import { NEXT, ORDER, pageParameters } from "../lists.ts";
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

/** An absent term counts as null. */
export const NEW_KEY = requiring(["name"], {
  name: NAME,
  account: text("Id or name of the account; default: default.", { maxLength: 200 }),
  ...TERMS,
});

/** Absent fields do not change. */
export const KEY_CHANGE = optional(
  {
    ...TERMS,
    callback_secret_grace_seconds: grace("How long the callback secret that is replaced signs too."),
  },
  { minProperties: 1 },
);

export const ROTATION = optional({
  grace_seconds: grace("How long the secret that is replaced is still taken."),
});

/** Every day is a seek for each key. */
const MOST_CHARGED_DAYS = 92;

/** Which keys are listed. */
export const KEYS_QUERY = optional({
  account: text("Id or name of the account whose keys to list."),
  ...pageParameters("Keys"),
  ...ORDER,
  charged_days: integer("Says what was charged to each key in so many days, today included (`charged`).", {
    minimum: 1,
    maximum: MOST_CHARGED_DAYS,
  }),
});

const FIELDS = {
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

/** An additional field for a key whose callback secret was just generated. */
const MADE = {
  callback_secret: text("Only where one was made: what callbacks are signed with, shown this once."),
};
const OPTIONAL = { optional: Object.keys(MADE) };
const KEY = component("ApiKey", FIELDS);
const LISTED = component(
  "ListedApiKey",
  {
    ...FIELDS,
    account: text("Name of its account."),
    charged: amount(
      "With `charged_days`: what was charged for its tasks that ended since then, before refunds.",
    ),
  },
  { optional: ["charged"] },
);
const CHANGED = component("ChangedApiKey", { ...FIELDS, ...MADE }, OPTIONAL);
const WITH_SECRET = component(
  "ApiKeyWithSecret",
  { ...FIELDS, key: text("The key itself, shown this once."), ...MADE },
  OPTIONAL,
);

const ONE = byIdOrName("key");

export const KEYS = {
  list: contract(
    "listKeys",
    "List API keys, revoked ones included",
    closed({ keys: list(LISTED), next: NEXT }),
    {
      description: "In the order in which they were made, the oldest first unless asked otherwise.",
      query: KEYS_QUERY,
      ...NOT_FOUND,
    },
  ),
  create: contract("createKey", "Make an API key", WITH_SECRET, {
    description: "The key itself is in this answer and nowhere else.",
    body: jsonBody(NEW_KEY),
    ...NOT_FOUND,
  }),
  read: contract("readKey", "Read an API key", KEY, ONE),
  update: contract("updateKey", "Change what an API key may do", CHANGED, {
    description: "What is absent stays as it is; null lifts a limit, and ends the signing of callbacks.",
    ...ONE,
    body: jsonBody(KEY_CHANGE),
  }),
  rotate: contract("rotateKey", "Give an API key a new secret", WITH_SECRET, {
    ...ONE,
    body: jsonBody(ROTATION),
  }),
  revoke: contract("revokeKey", "Refuse an API key from now on", KEY, ONE),
};
