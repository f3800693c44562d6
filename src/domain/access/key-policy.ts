import type { ModelId } from "../ids.ts";
import type { Quota } from "../money/quota.ts";

/** What a key may be allowed: asynchronous images, asynchronous videos, the synchronous images API. */
export const FEATURES = ["images", "videos", "compat"] as const;
export type Feature = (typeof FEATURES)[number];

/** How results come back from the synchronous images API when a request does not say. */
export const RESPONSE_FORMATS = ["b64_json", "url"] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

/** What a key may do, and how much of it. What is absent is not limited. */
export interface KeyPolicy {
  /** Patterns of model ids, `*` standing for any characters; a model must match one. */
  readonly models?: readonly string[] | undefined;
  readonly features?: readonly Feature[] | undefined;
  /** Addresses the key may be used from, as CIDR ranges. */
  readonly allowIps?: readonly string[] | undefined;
  /** Generation requests taken in a minute. */
  readonly requestsPerMinute?: number | undefined;
  /** Tasks that may be live at once. */
  readonly concurrency?: number | undefined;
  /** Names this key may use for models, before the server's own aliases. */
  readonly aliases?: { readonly [alias: string]: ModelId } | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  /** What the key may spend. */
  readonly quota?: Quota | undefined;
  /** Millionths its prices are charged times; the account's unless given. */
  readonly priceMultiplier?: number | undefined;
  /** Longest wait of a synchronous call, where it is to be shorter than the server's. */
  readonly syncWaitSec?: number | undefined;
}

/** Nothing limited: the policy of a key for which nothing was said. */
export const OPEN_POLICY: KeyPolicy = {};

/** What is to become of a policy: what is absent stays as it is, null lifts. */
export type PolicyChange = { readonly [Limit in keyof KeyPolicy]: KeyPolicy[Limit] | null };

/** The policy after a change. What a change gives replaces what there was, lists and aliases as a whole. */
export function changePolicy(policy: KeyPolicy, change: PolicyChange): KeyPolicy {
  const given = Object.entries({ ...policy, ...withoutAbsent(change) });
  // Names and values come from the two alone.
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null)) as KeyPolicy;
}

function withoutAbsent(change: PolicyChange): PolicyChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

export function allowsFeature(policy: KeyPolicy, feature: Feature): boolean {
  return policy.features === undefined || policy.features.includes(feature);
}

/** Whether the key may use a model, by the model's own id; aliases are resolved before. */
export function allowsModel(policy: KeyPolicy, model: string): boolean {
  return policy.models === undefined || policy.models.some((pattern) => matchesPattern(pattern, model));
}

/**
 * Whether `pattern` stands for all of `text`: `*` for any run of characters, everything else for itself. Takes time in the
 * product of the lengths at most, whatever the pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let restart = 0;
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === "*") {
      star = at++;
      restart = i;
    } else if (pattern[at] === text[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++restart;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
