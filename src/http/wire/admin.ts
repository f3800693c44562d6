import { FEATURES, RESPONSE_FORMATS } from "../../domain/access.ts";
import { CURRENCY } from "../../domain/money.ts";
import { MOST } from "../../service/key-terms.ts";
import { MAX_GRACE_SEC } from "../../service/manage-keys.ts";

/** Bodies of the management API. What depends on more than the body is checked where it is done. */

const NAME = {
  type: "string",
  minLength: 1,
  maxLength: 100,
  description: "What people call it; unique among those of its kind that are not revoked.",
} as const;

const AMOUNT = {
  type: "string",
  pattern: "^-?\\d{1,9}(\\.\\d{1,6})?$",
  "x-must": "be an amount like 5.00, with at most six decimal places",
} as const;

const CURRENCY_FIELD = { type: "string", const: CURRENCY } as const;

const strings = (description: string) =>
  ({
    type: ["array", "null"],
    items: { type: "string", maxLength: 200 },
    minItems: 1,
    maxItems: MOST.entries,
    description,
  }) as const;

const count = (maximum: number, description: string) =>
  ({ type: ["integer", "null"], minimum: 1, maximum, description }) as const;

/** What a key may do; null, and in a new key absence, means no limit. */
const TERMS = {
  expires_at: {
    type: ["integer", "null"],
    minimum: 0,
    description: "Unix seconds from when on the key is refused.",
  },
  models: strings("Ids of models the key may use, * standing for any characters."),
  features: {
    ...strings("What the key may create."),
    items: { type: "string", enum: FEATURES },
  },
  allow_ips: strings("Addresses and ranges of them (CIDR) the key may be used from."),
  requests_per_minute: count(MOST.requestsPerMinute, "Creates the key may make in a minute."),
  concurrency: count(MOST.concurrency, "Tasks of the key that may be live at once."),
  aliases: {
    type: ["object", "null"],
    additionalProperties: { type: "string", maxLength: 200 },
    minProperties: 1,
    maxProperties: MOST.entries,
    description: "Other names for models, and the models' ids.",
  },
  response_format: {
    enum: [...RESPONSE_FORMATS, null],
    description: "What the synchronous images API answers when a request does not say.",
  },
  sync_wait_seconds: count(
    MOST.syncWaitSec,
    "Longest wait of a synchronous call, where shorter than the server's.",
  ),
} as const;

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
  properties: TERMS,
} as const;

export const ROTATION = {
  type: "object",
  additionalProperties: false,
  properties: {
    grace_seconds: {
      type: "integer",
      minimum: 0,
      maximum: MAX_GRACE_SEC,
      default: 0,
      description: "How long the secret that is replaced is still taken.",
    },
  },
} as const;

export const NEW_ACCOUNT = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: NAME,
    mode: { enum: ["prepaid", "unlimited"], default: "prepaid" },
    credit: { ...AMOUNT, description: "First credit." },
    currency: CURRENCY_FIELD,
  },
} as const;

export const CREDIT = {
  type: "object",
  additionalProperties: false,
  required: ["amount", "reason"],
  properties: {
    amount: { ...AMOUNT, description: "Added to the balance; below zero it is taken from it." },
    currency: CURRENCY_FIELD,
    reason: { type: "string", minLength: 1, maxLength: 500, description: "Why, for the ledger." },
  },
} as const;

export const NEW_TOKEN = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: { name: NAME },
} as const;

/** Which keys are listed. */
export const KEYS_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { account: { type: "string", description: "Id or name of the account whose keys to list." } },
} as const;
