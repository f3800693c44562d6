import { ROUTE_POLICIES } from "../model/route-policy.ts";
import { CURRENCY } from "../money/money.ts";
import type { GivenTerms, KeptOf, TermChange, TermTable } from "./term.ts";

/** What a key may be allowed: asynchronous images, asynchronous videos, the synchronous images API. */
export const FEATURES = ["images", "videos", "compat"] as const;
export type Feature = (typeof FEATURES)[number];

/** How the synchronous images API returns results when a request does not say. */
export const RESPONSE_FORMATS = ["b64_json", "url"] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

/** What a key may do, and how much of it. Listed everywhere in this order. */
export const KEY_LIMITS = {
  models: {
    kind: "patterns",
    wire: "models",
    description: "Ids of models the key may use, * standing for any characters",
    unset: { means: "all models" },
    flag: "--models <patterns>",
    help: "models it may use, with commas, * for any characters; or any",
    label: "models",
  },
  features: {
    kind: "choices",
    among: FEATURES,
    wire: "features",
    description: "What the key may create",
    unset: { means: "everything" },
    flag: "--features <list>",
    help: "what it may create: images, videos, compat, with commas; or any",
    label: "features",
  },
  allowIps: {
    kind: "ranges",
    wire: "allow_ips",
    description: "Addresses and ranges of them (CIDR) the key may be used from",
    unset: { means: "any address" },
    flag: "--allow-ip <ranges...>",
    help: "addresses or ranges (CIDR) it may be used from; or any",
    label: "addresses",
  },
  requestsPerMinute: {
    kind: "count",
    most: 1_000_000,
    wire: "requests_per_minute",
    description: "Creates, synchronous calls and redeliveries the key may ask for in a minute",
    unset: { means: "any number" },
    flag: "--rpm <count>",
    help: "most creates and redeliveries per minute; or none",
    label: "creates a minute",
  },
  concurrency: {
    kind: "count",
    // Each create counts the key's live tasks, so the limit bounds that cost.
    most: 10_000,
    wire: "concurrency",
    description: "Tasks of the key that may be live at once",
    unset: { means: "any number" },
    flag: "--concurrency <count>",
    help: "most live tasks at one time; or none",
    label: "tasks at once",
  },
  aliases: {
    kind: "aliases",
    wire: "aliases",
    description: "Other names for models, and the models' ids",
    unset: { means: "none" },
    flag: "--alias <name=model...>",
    help: "other names for models, such as gpt-image-1=sandbox-image; or none",
    label: "aliases",
  },
  responseFormat: {
    kind: "choice",
    among: RESPONSE_FORMATS,
    wire: "response_format",
    description: "What the synchronous images API answers when a request does not say",
    unset: { means: "as the server has it" },
    flag: "--compat-response-format <format>",
    help: "what /compat/v1 answers: b64_json or url; or none",
    label: "compat answers",
  },
  syncWaitSec: {
    kind: "duration",
    most: 3600,
    wire: "sync_wait_seconds",
    description: "Longest wait of a synchronous call, where shorter than the server's",
    unset: { means: "the server's" },
    flag: "--sync-wait <duration>",
    help: "longest wait of a synchronous call, as 120 (seconds) or 2m; or none",
    label: "longest sync wait",
  },
  quota: {
    kind: "quota",
    wire: "quota",
    description: "What the key may spend",
    unset: { means: "any amount" },
    flag: "--quota <amount>",
    help: `what it may spend, in ${CURRENCY}, such as 25.00; or none`,
    reset: { flag: "--quota-reset <when>", help: "when its quota restarts, in UTC; total: never" },
    label: "quota",
  },
  routePolicy: {
    kind: "choice",
    among: ROUTE_POLICIES,
    wire: "route_policy",
    description: "How one of a model's routes is chosen when a request does not say",
    unset: { means: "as the model has it" },
    flag: "--route-policy <policy>",
    help: "how routes are chosen: ordered, weighted, cheapest, fastest, least_busy; or none",
    label: "routes",
  },
  namedRoutes: {
    kind: "choice",
    among: ["allowed"],
    wire: "named_routes",
    description: "Whether a request may name the one route that it takes, by X-Route",
    unset: { means: "it may not" },
    flag: "--named-routes <allowed>",
    help: "allowed: requests may name their route by X-Route; or none",
    label: "X-Route",
  },
  retainSec: {
    kind: "duration",
    most: 315_360_000,
    wire: "retain_seconds",
    description:
      "How long the files of its tasks are kept after their end, and the most that a request may ask for",
    unset: { means: "as the server has it" },
    flag: "--retain <duration>",
    help: "how long the files of its tasks are kept, as 3600 (seconds) or 30d; or none",
    label: "files kept",
  },
  moderation: {
    kind: "checks",
    wire: "moderation",
    description: "Names of the checks of content that its requests go through; an empty list: none",
    unset: { means: "as the model or the server has it" },
    flag: "--moderation <checks>",
    help: "checks of its requests' content, with commas; none: no check; default: as the server has it",
    label: "moderation",
  },
  priceMultiplier: {
    kind: "multiplier",
    wire: "price_multiplier",
    description: "Prices are charged times this",
    unset: { means: "as the account's" },
    flag: "--price-multiplier <factor>",
    help: "factor on its prices, such as 1.25; none: its account's factor",
    label: "prices",
  },
} as const satisfies TermTable;
type KeyLimits = typeof KEY_LIMITS;

/** What an operator sets for a key: its limits, and when it ends. */
export const KEY_TERMS = {
  expiresAt: {
    kind: "time",
    wire: "expires_at",
    description: "From when on the key is refused",
    unset: { means: "never" },
    flag: "--expires <when>",
    help: "when it expires: 90d, 12h, a date or a time; or never",
    label: "expires",
  },
  ...KEY_LIMITS,
} as const satisfies TermTable;
export type GivenKeyTerms = GivenTerms<typeof KEY_TERMS>;

/** What a key may do, and how much of it. What is absent is not limited. */
export type KeyPolicy = { readonly [Name in keyof KeyLimits]?: KeptOf<KeyLimits[Name]> | undefined };

/** No limits. */
export const OPEN_POLICY: KeyPolicy = {};

/** A change of a policy. What is absent stays as it is; null removes the limit. */
export type PolicyChange = TermChange<KeyLimits>;

/** The policy after a change. Lists and aliases are replaced as a whole. */
export function changePolicy(policy: KeyPolicy, change: PolicyChange): KeyPolicy {
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  const given = Object.entries({ ...policy, ...Object.fromEntries(changed) });
  // All names and values come from the policy and the change.
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null)) as KeyPolicy;
}
