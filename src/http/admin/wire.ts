import { FEATURES, RESPONSE_FORMATS } from "../../domain/access/key-policy.ts";
import { MAX_LIST_LIMIT } from "../../domain/limits.ts";
import { CURRENCY } from "../../domain/money/money.ts";
import { QUOTA_RESETS } from "../../domain/money/quota.ts";
import { USAGE_GROUPS } from "../../domain/money/usage.ts";
import { MAX_GRACE_SEC, MOST, NEW_SECRET } from "../../service/key-terms.ts";
import { MAX_REASON_LENGTH } from "../../service/manage-money.ts";

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

const MULTIPLIER = {
  type: ["string", "null"],
  pattern: "^\\d{1,4}(\\.\\d{1,6})?$",
  "x-must": "be a number above 0 and at most 1000, such as 1.25, as text with at most six decimal places",
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
  requests_per_minute: count(
    MOST.requestsPerMinute,
    "Creates, synchronous calls and redeliveries the key may ask for in a minute.",
  ),
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
  quota: {
    type: ["object", "null"],
    additionalProperties: false,
    minProperties: 1,
    properties: {
      limit: { ...AMOUNT, description: "What the key may spend." },
      reset: {
        type: "string",
        enum: QUOTA_RESETS,
        description: "When that begins anew, in UTC; `total`, the default: never.",
      },
    },
    description: "What the key may spend; what is absent stays as the key has it.",
  },
  price_multiplier: { ...MULTIPLIER, description: "Its prices times this; null: as its account's." },
  callback_secret: {
    type: ["string", "null"],
    "x-must": `be "${NEW_SECRET}", null, or whsec_ and 24 to 64 bytes in base64`,
    description: `What the key's callbacks are signed with (Standard Webhooks): "${NEW_SECRET}" for one that is made, or whsec_ and 24 to 64 bytes in base64; null: they are not signed.`,
  },
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
  properties: {
    ...TERMS,
    callback_secret_grace_seconds: {
      type: "integer",
      minimum: 0,
      maximum: MAX_GRACE_SEC,
      default: 0,
      description: "How long the callback secret that is replaced signs too.",
    },
  },
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

/** What is absent stays as it is. */
export const ACCOUNT_CHANGE = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    mode: { enum: ["prepaid", "unlimited"] },
    credit_limit: {
      ...AMOUNT,
      type: ["string", "null"],
      description: "How far below zero a prepaid account may go; null: not at all.",
    },
    price_multiplier: { ...MULTIPLIER, description: "Its prices times this; null: as they are." },
    low_balance: {
      ...AMOUNT,
      type: ["string", "null"],
      description: "With less than this available, a warning is logged, once for each time; null: never.",
    },
    currency: CURRENCY_FIELD,
  },
} as const;

const REASON = {
  type: "string",
  minLength: 1,
  maxLength: MAX_REASON_LENGTH,
  description: "Why, for the ledger.",
} as const;

export const CREDIT = {
  type: "object",
  additionalProperties: false,
  required: ["amount", "reason"],
  properties: {
    amount: { ...AMOUNT, description: "Added to the balance; below zero it is taken from it." },
    currency: CURRENCY_FIELD,
    reason: REASON,
  },
} as const;

export const REFUND = {
  type: "object",
  additionalProperties: false,
  required: ["reason"],
  properties: {
    amount: { ...AMOUNT, description: "Given back; all that was charged unless given." },
    currency: CURRENCY_FIELD,
    reason: REASON,
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

/** Entries in a page unless said otherwise. */
export const DEFAULT_PAGE = 20;

/** Which part of a ledger is listed. */
export const LEDGER_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_LIST_LIMIT,
      default: DEFAULT_PAGE,
      description: "Entries in the page.",
    },
    before: { type: "string", pattern: "^\\d{1,15}$", description: "`next` of the page before." },
  },
} as const;

const DAY = {
  type: "string",
  pattern: "^\\d{4}-\\d\\d-\\d\\d$",
  "x-must": "be a day like 2026-11-01",
} as const;

/** What usage is asked for. */
export const USAGE_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    by: { type: "string", enum: USAGE_GROUPS, default: "day", description: "What each row is of." },
    since: { ...DAY, description: "First day, UTC; 30 days ago unless given." },
    until: { ...DAY, description: "Last day, UTC; today unless given." },
    account: { type: "string", maxLength: 200, description: "Id or name of one account; all unless given." },
  },
} as const;
