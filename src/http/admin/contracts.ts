import { FEATURES, RESPONSE_FORMATS } from "../../domain/access/key-policy.ts";
import type { LedgerKind } from "../../domain/money/ledger.ts";
import { QUOTA_RESETS } from "../../domain/money/quota.ts";
import { USAGE_GROUPS } from "../../domain/money/usage.ts";
import type { EndpointContract, Schema } from "../openapi/contract.ts";
import { jsonAnswer, jsonBody } from "../wire/answer.ts";
import {
  amount,
  CURRENCY_SCHEMA,
  closed,
  envelope,
  idOf,
  integer,
  list,
  nullable,
  text,
  unixSeconds,
} from "../wire/schema.ts";
import {
  ACCOUNT_CHANGE,
  CREDIT,
  KEY_CHANGE,
  KEYS_QUERY,
  LEDGER_QUERY,
  NEW_ACCOUNT,
  NEW_KEY,
  NEW_TOKEN,
  REFUND,
  ROTATION,
  USAGE_QUERY,
} from "./wire.ts";

const statusOf = (...values: string[]) => text("Only an active one is taken.", { enum: values });
const DISPLAY = text("First and last characters, to recognise it by.");

const MULTIPLIER = text("Prices are charged times this.", { examples: ["1.25"] });

const ACCOUNT_FIELDS: Readonly<Record<string, Schema>> = {
  id: idOf("acc", "Id of the account."),
  name: text("What people call it."),
  mode: text("`unlimited` accounts are metered and never refused.", { enum: ["unlimited", "prepaid"] }),
  status: text("Keys of a suspended account are refused.", { enum: ["active", "suspended"] }),
  currency: CURRENCY_SCHEMA,
  balance: amount("Sum of the ledger."),
  held: amount("Held for tasks under way."),
  available: nullable(amount("What new tasks may cost; null: any amount.")),
  credit_limit: amount("How far below zero a prepaid account may go."),
  price_multiplier: MULTIPLIER,
  low_balance: nullable(amount("With less than this available, a warning is logged; null: never.")),
  created_at: unixSeconds("When it was made."),
};

const KEY_FIELDS: Readonly<Record<string, Schema>> = {
  id: idOf("key", "Id of the key."),
  name: text("What people call it."),
  account_id: idOf("acc", "The account it belongs to."),
  display: DISPLAY,
  status: statusOf("active", "expired", "revoked"),
  created_at: unixSeconds("When it was made."),
  expires_at: nullable(unixSeconds("From when on it is refused; null: never.")),
  revoked_at: nullable(unixSeconds("When it was revoked.")),
  signs_callbacks: { type: "boolean", description: "Whether its callbacks are signed." },
  previous: nullable(
    closed(
      { display: DISPLAY, expires_at: unixSeconds("Until when it is taken.") },
      { description: "The secret before the last rotation." },
    ),
  ),
  models: nullable(list(text(""), { description: "Patterns of model ids; null: all models." })),
  features: nullable(list(text("", { enum: FEATURES }), { description: "Null: everything." })),
  allow_ips: nullable(list(text(""), { description: "CIDR ranges; null: any address." })),
  requests_per_minute: nullable(
    integer("Creates, synchronous calls and redeliveries in a minute; null: any number.", { minimum: 1 }),
  ),
  concurrency: nullable(integer("Live tasks at once; null: any number.", { minimum: 1 })),
  aliases: nullable({
    type: "object",
    additionalProperties: text("Id of a model."),
    description: "Other names for models.",
  }),
  response_format: nullable(text("Of synchronous calls that do not say.", { enum: RESPONSE_FORMATS })),
  sync_wait_seconds: nullable(integer("Longest wait of a synchronous call.", { minimum: 1 })),
  quota: nullable(
    closed(
      {
        limit: amount("What the key may spend."),
        reset: text("When that begins anew, in UTC.", { enum: QUOTA_RESETS }),
      },
      { description: "What the key may spend; null: any amount." },
    ),
  ),
  price_multiplier: nullable(MULTIPLIER),
};

const TOKEN_FIELDS: Readonly<Record<string, Schema>> = {
  id: idOf("tok", "Id of the token."),
  name: text("What people call it."),
  display: DISPLAY,
  status: statusOf("active", "revoked"),
  created_at: unixSeconds("When it was made."),
  revoked_at: nullable(unixSeconds("When it was revoked.")),
};

const ACCOUNT: Schema = { title: "Account", ...closed(ACCOUNT_FIELDS) };
const KEY: Schema = { title: "ApiKey", ...closed(KEY_FIELDS) };
/** Beside a key's fields, where a secret was made for its callbacks. */
const MADE = {
  callback_secret: text("Only where one was made: what callbacks are signed with, shown this once."),
};
const OPTIONAL = { optional: Object.keys(MADE) };
const CHANGED_KEY: Schema = { title: "ChangedApiKey", ...closed({ ...KEY_FIELDS, ...MADE }, OPTIONAL) };
const NEW_KEY_ANSWER: Schema = {
  title: "ApiKeyWithSecret",
  ...closed({ ...KEY_FIELDS, key: text("The key itself, shown this once."), ...MADE }, OPTIONAL),
};
const TOKEN: Schema = { title: "ManagementToken", ...closed(TOKEN_FIELDS) };
const NEW_TOKEN_ANSWER: Schema = {
  title: "ManagementTokenWithSecret",
  ...closed({ ...TOKEN_FIELDS, token: text("The token itself, shown this once.") }),
};

const LEDGER_KINDS = [
  "credit",
  "hold",
  "capture",
  "release",
  "refund",
  "adjustment",
] as const satisfies readonly LedgerKind[];
const LEDGER: Schema = {
  title: "Ledger",
  ...closed({
    currency: CURRENCY_SCHEMA,
    entries: list(
      closed({
        at: unixSeconds("When it was written."),
        kind: text("What happened.", { enum: LEDGER_KINDS }),
        balance_delta: amount("Added to the balance."),
        held_delta: amount("Added to what is held."),
        balance: amount("The balance after it."),
        task_id: nullable(idOf("task", "The task it is about.")),
        reason: text("Why."),
        actor: text("Who: the id of a key or a token, `operator` on the data folder, or `system`."),
      }),
    ),
    next: nullable(text("Give as `before` for the next page; null on the last.")),
  }),
};
const REFUNDED: Schema = {
  title: "Refund",
  ...closed({
    task_id: idOf("task", "The task."),
    refunded: amount("Given back."),
    currency: CURRENCY_SCHEMA,
    account: ACCOUNT,
  }),
};

const USAGE_SUM: Readonly<Record<string, Schema>> = {
  completed: integer("Tasks that were completed.", { minimum: 0 }),
  failed: integer("Tasks that failed.", { minimum: 0 }),
  cancelled: integer("Tasks that were cancelled.", { minimum: 0 }),
  outputs: integer("Images and videos made.", { minimum: 0 }),
  charged: amount("What was charged."),
  upstream_cost: nullable(amount("What upstreams charged the operator; null: not known.")),
  margin: nullable(amount("What was charged for the tasks whose cost is known, less that.")),
};
const USAGE: Schema = {
  title: "Usage",
  ...closed({
    by: text("What each row is of.", { enum: USAGE_GROUPS }),
    since: text("First day, UTC."),
    until: text("Last day, UTC."),
    currency: CURRENCY_SCHEMA,
    rows: list(
      closed(
        {
          day: text("By day: the day."),
          model: text("By model: its id."),
          account_id: nullable(idOf("acc", "By key: the account it belongs to.")),
          account: nullable(text("Its name.")),
          key_id: nullable(idOf("key", "By key: its id.")),
          key: nullable(text("Its name.")),
          ...USAGE_SUM,
        },
        { optional: ["day", "model", "account_id", "account", "key_id", "key"] },
      ),
    ),
    total: closed(USAGE_SUM),
  }),
};

const byIdOrName = (what: string) => ({ id: text(`Id or name of the ${what}.`) });

function managed(
  id: string,
  summary: string,
  answer: Schema,
  more: Partial<Omit<EndpointContract, "id" | "summary" | "tag" | "answers">> = {},
): EndpointContract {
  // What a path names may be missing.
  const errors = more.path === undefined ? (more.errors ?? []) : (["not_found", "invalid_request"] as const);
  return {
    id,
    tag: "Management",
    summary,
    ...more,
    answers: { 200: jsonAnswer("As it is now.", envelope(answer)) },
    errors,
  };
}

const UNKNOWN_ACCOUNT = { errors: ["not_found", "invalid_request"] } as const;

export const LIST_KEYS = managed(
  "listKeys",
  "List API keys, revoked ones included",
  closed({ keys: list(KEY) }),
  {
    query: KEYS_QUERY,
    ...UNKNOWN_ACCOUNT,
  },
);
export const CREATE_KEY = managed("createKey", "Make an API key", NEW_KEY_ANSWER, {
  description: "The key itself is in this answer and nowhere else.",
  body: jsonBody(NEW_KEY),
  ...UNKNOWN_ACCOUNT,
});
export const READ_KEY = managed("readKey", "Read an API key", KEY, { path: byIdOrName("key") });
export const UPDATE_KEY = managed("updateKey", "Change what an API key may do", CHANGED_KEY, {
  description: "What is absent stays as it is; null lifts a limit, and ends the signing of callbacks.",
  path: byIdOrName("key"),
  body: jsonBody(KEY_CHANGE),
});
export const ROTATE_KEY = managed("rotateKey", "Give an API key a new secret", NEW_KEY_ANSWER, {
  path: byIdOrName("key"),
  body: jsonBody(ROTATION),
});
export const REVOKE_KEY = managed("revokeKey", "Refuse an API key from now on", KEY, {
  path: byIdOrName("key"),
});

export const LIST_ACCOUNTS = managed("listAccounts", "List accounts", closed({ accounts: list(ACCOUNT) }));
export const CREATE_ACCOUNT = managed("createAccount", "Make an account", ACCOUNT, {
  body: jsonBody(NEW_ACCOUNT),
});
export const READ_ACCOUNT = managed("readAccount", "Read an account", ACCOUNT, {
  path: byIdOrName("account"),
});
export const CREDIT_ACCOUNT = managed(
  "creditAccount",
  "Add to an account's balance, or take from it",
  ACCOUNT,
  {
    path: byIdOrName("account"),
    body: jsonBody(CREDIT),
  },
);

export const UPDATE_ACCOUNT = managed("updateAccount", "Change the terms of an account", ACCOUNT, {
  description: "What is absent stays as it is. Tasks accepted before are charged as they were promised.",
  path: byIdOrName("account"),
  body: jsonBody(ACCOUNT_CHANGE),
});
export const SUSPEND_ACCOUNT = managed("suspendAccount", "Refuse an account's keys from now on", ACCOUNT, {
  description: "Tasks that were accepted go on.",
  path: byIdOrName("account"),
});
export const ACTIVATE_ACCOUNT = managed("activateAccount", "Take a suspended account's keys again", ACCOUNT, {
  path: byIdOrName("account"),
});
export const READ_LEDGER = managed("readLedger", "Read an account's ledger, newest first", LEDGER, {
  path: byIdOrName("account"),
  query: LEDGER_QUERY,
});
export const REFUND_TASK = managed("refundTask", "Give back what a task was charged", REFUNDED, {
  description: "In whole or in part, once for each task. Usage and quotas go on to count what was charged.",
  path: { id: idOf("task", "Public id of the task.") },
  body: jsonBody(REFUND),
});
export const READ_USAGE = managed("readUsage", "Sum up what tasks came to", USAGE, {
  description: "Of the tasks that ended on the days asked for, in UTC. Refunds are not in it.",
  query: USAGE_QUERY,
  ...UNKNOWN_ACCOUNT,
});

export const LIST_TOKENS = managed("listTokens", "List management tokens", closed({ tokens: list(TOKEN) }));
export const CREATE_TOKEN = managed("createToken", "Make a management token", NEW_TOKEN_ANSWER, {
  description: "The token itself is in this answer and nowhere else.",
  body: jsonBody(NEW_TOKEN),
});
export const REVOKE_TOKEN = managed("revokeToken", "Refuse a management token from now on", TOKEN, {
  path: byIdOrName("token"),
});
