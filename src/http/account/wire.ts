import { FEATURES } from "../../domain/access/key-policy.ts";
import { MOST_USAGE_LINES } from "../../domain/money/usage.ts";
import { type EndpointContract, succeeds } from "../openapi/contract.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  text,
} from "../wire/schema.ts";
import { usageParameters } from "../wire/usage.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../wire/values.ts";

const USAGE = closed({
  tasks: integer("Tasks that ended.", { minimum: 0 }),
  outputs: integer("Images and videos made.", { minimum: 0 }),
  cost: amount("What was charged."),
  currency: CURRENCY_SCHEMA,
});

const QUOTA = closed({
  limit: nullable(amount("What the key may spend; null: any amount.")),
  used: nullable(amount("Charged in the period; ever, where there is no limit.")),
  reserved: nullable(amount("Of it, held for tasks under way.")),
  remaining: nullable(amount("Of it, left; null: any amount.")),
  reset: nullable(openEnum(["daily", "weekly", "monthly", "total"], "How often it begins anew.")),
  resets_at: nullable(unixSeconds("When it begins anew.")),
});

const RATE_LIMIT = closed({
  metric: openEnum(["requests", "concurrent_tasks"], "What is counted."),
  limit: integer("How many are allowed.", { minimum: 0 }),
  window_seconds: nullable(integer("In how long; null: at once.", { minimum: 1 })),
  remaining: integer("How many are left.", { minimum: 0 }),
  resets_at: nullable(unixSeconds("When all of them are there again.")),
});

const KEY = closed({
  id: idOf("key", "Id of the key."),
  name: text("What its owner calls it."),
  prefix: text("Its first characters and its last, to recognise it by."),
  status: openEnum(["active"], "A key that is not active is refused before it gets here."),
  expires_at: nullable(unixSeconds("When it ends; null: never.")),
  permissions: closed({
    models: nullable(list(text(""), { description: "Patterns of model ids; null: all models." })),
    features: nullable(list(openEnum(FEATURES, ""), { description: "What it may do; null: everything." })),
  }),
  ip_restricted: flag("Whether it may be used from some addresses only."),
  quota: QUOTA,
  rate_limits: list(RATE_LIMIT, { description: "Only limits that exist." }),
});

/** What the rows of the caller's own usage may be grouped by. */
export const OWN_USAGE_QUERY = optional(usageParameters(["day", "model", "key"]));

const OWN_SUM = {
  completed: integer("Tasks that were completed.", { minimum: 0 }),
  failed: integer("Tasks that failed.", { minimum: 0 }),
  cancelled: integer("Tasks that were cancelled.", { minimum: 0 }),
  outputs: integer("Images and videos made.", { minimum: 0 }),
  charged: amount("What was charged."),
};

export const READ_OWN_USAGE: EndpointContract = {
  id: "readOwnUsage",
  tag: "Account",
  summary: "Sum up what the account's tasks came to",
  description: `Of the tasks that ended on the days asked for, in UTC. Refunds are not in it. At most ${MOST_USAGE_LINES} rows.`,
  query: OWN_USAGE_QUERY,
  answers: succeeds(
    "The sums.",
    component("OwnUsage", {
      by: text("What each row is of."),
      since: text("First day, UTC."),
      until: text("Last day, UTC."),
      currency: CURRENCY_SCHEMA,
      rows: list(
        closed(
          {
            day: text("By day: the day."),
            model: text("By model: its id."),
            key_id: idOf("key", "By key: its id."),
            key: text("Its name."),
            ...OWN_SUM,
          },
          { optional: ["day", "model", "key_id", "key"] },
        ),
      ),
      total: closed(OWN_SUM),
    }),
  ),
  errors: ["invalid_request"],
};

/** `data` of GET /v1/account/status. */
export const ACCOUNT_STATUS = component("AccountStatus", {
  account: closed({
    id: idOf("acc", "Id of the account."),
    name: text("What the operator calls it."),
    status: openEnum(["active"], "One that is not active is refused before it gets here."),
  }),
  key: KEY,
  balance: closed({
    mode: openEnum(
      ["unlimited", "prepaid"],
      "`unlimited` accounts are metered, and refused only beyond 8e9 USD owed.",
    ),
    currency: CURRENCY_SCHEMA,
    total: amount("Sum of everything credited and charged."),
    reserved: amount("Held for tasks under way."),
    available: nullable(amount("What new tasks may cost; null: any amount.")),
    credit_limit: nullable(
      amount("How far below zero the total may go, counted in `available`; null: any amount."),
    ),
  }),
  usage: closed({ today: USAGE, month: USAGE }, { description: "Days and months in UTC." }),
  tasks: closed({
    pending: integer("Tasks waiting.", { minimum: 0 }),
    processing: integer("Tasks under way.", { minimum: 0 }),
  }),
  can_create: flag("Whether a task could be created now, if its price fits."),
  blocked_by: list(text(""), {
    description: "Why not: `balance`, `key_quota`, `concurrency`, `draining` and the like.",
  }),
  server_time: unixSeconds("The server's clock."),
});

export const READ_ACCOUNT_STATUS: EndpointContract = {
  id: "readAccountStatus",
  tag: "Account",
  summary: "Probe the credential and its account",
  description:
    "Free, and counted against no limit. What belongs to the account and what to the key is never merged.",
  answers: succeeds("The account and the key.", ACCOUNT_STATUS),
};
