import type { Feature } from "../access/key-policy.ts";
import type { Scope } from "../access/token-terms.ts";
import { cut, type WordTable } from "./say.ts";

const FEATURES = {
  images: "create images",
  videos: "create videos",
  compat: "use the synchronous images API",
} as const satisfies Record<Feature, string>;

const OWNERS = { key: "API key", account: "account", token: "management token" } as const;

const STAYS = { streams: "event streams", waits: "calls that wait" } as const;

/** What there is instead of an unknown path. */
export interface Nearby {
  /** The part of the path that is known. */
  readonly below: string;
  /** What may come next: segments, `{parameters}` and `:verbs`. */
  readonly next: readonly string[];
}

interface UnknownPath {
  readonly path: string;
  readonly nearby?: Nearby | undefined;
  /** Known paths that end with it. */
  readonly meant?: readonly string[];
  /** Known paths that end as it does. */
  readonly elsewhere?: readonly string[];
  /** The known path that it is nearly. */
  readonly near?: string | undefined;
}

/** Where clients of the images API have to be led. */
const IMAGES_BASE = "/compat/v1";

/** Why a caller may not use the service, or may not do what it asks for. */
export const ACCESS_WORDS = {
  key_absent: () => "No API key was given. Send it as `Authorization: Bearer <API_KEY>`.",
  key_malformed: () => "The API key is malformed: check that it was copied whole.",
  key_invalid: () => "The API key is not valid.",
  key_expired: () => "The API key has expired.",
  key_elsewhere: () => "The API key may not be used from this address.",
  key_suspended: () => "The account of this API key is suspended.",
  key_not_token: () => "This is an API key; a management token is needed here.",
  token_absent: () => "No management token was given. Send it as `Authorization: Bearer <MANAGEMENT_TOKEN>`.",
  token_malformed: () => "The management token is malformed: check that it was copied whole.",
  token_invalid: () => "The management token is not valid.",
  token_expired: () => "The management token has expired.",
  session_ended: () => "The session has ended: sign in again.",
  link_invalid: () =>
    "This link was used already, or has expired. `svc console link` prints a new one; an API key or a management token opens the console, too.",
  other_origin: () => "A browser's session is taken from pages of this service alone.",
  too_many_sign_ins: ({ retryAfterSec }: { retryAfterSec: number }) =>
    `Too many tries to sign in from this address. Try again in ${retryAfterSec} s.`,
  scope_missing: ({ scope, has }: { scope: Scope; has: readonly Scope[] }) =>
    `This needs a management token with the scope "${scope}"; this one has ${has.join(", ")}.`,
  scope_exceeded: ({ scope }: { scope: Scope; field: string }) =>
    `A token can make no token that may do more than itself: this one lacks the scope "${scope}".`,
  maker_outlived: ({ until }: { until: string; field: string }) =>
    `A token can make no token that outlives itself: this one expires at ${until}.`,
  token_not_key: () => "This is a management token; model APIs take an API key.",
  authorization_malformed: () => "The Authorization header must be `Bearer <API_KEY>`.",
  credentials_differ: () => "The request has two credentials that differ; send one of them.",
  host_malformed: () => "The Host header must be a host name or address, with a port if need be.",

  model_forbidden: ({ model }: { model: string; field: string }) =>
    `This API key may not use the model "${model}".`,
  /** `path` is where the estimated request would be sent; absent for a real request. */
  feature_forbidden: ({ feature, path }: { feature: Feature; path?: string | undefined }) =>
    `This API key may not ${path === undefined ? FEATURES[feature] : `use POST ${path}`}: it lacks the feature "${feature}".`,
  route_forbidden: () => "This API key may not choose its route; leave X-Route out.",
  too_many_requests: ({ perMinute, retryAfterSec }: { perMinute: number; retryAfterSec: number }) =>
    `This API key may make ${perMinute} ${perMinute === 1 ? "request that begins" : "requests that begin"} work a minute, and has. Try again in ${retryAfterSec} s.`,
  too_many_stays: (facts: {
    whose: "key" | "account" | "token";
    what: "streams" | "waits";
    most: number;
    retryAfterSec: number;
  }) =>
    `This ${OWNERS[facts.whose]} may have ${facts.most} ${STAYS[facts.what]} at once, and has. Try again in ${facts.retryAfterSec} s.`,
  too_many_connections: ({ retryAfterSec }: { retryAfterSec: number }) =>
    `The service has no connection left that may stay open. Try again in ${retryAfterSec} s.`,

  overloaded: ({ retryAfterSec }: { retryAfterSec: number }) =>
    `The service has more to do than it can at this moment. Send the request again in ${retryAfterSec} s.`,

  start_too_late: ({ task }: { task: string }) =>
    `Task ${task} had not started in the time that was given for it, and was cancelled.`,
  model_path_long: ({ segments, most }: { segments: number; most: number }) =>
    `A path to a model has at most ${most} segments, and this one has ${segments}.`,
  unknown_path: ({ path, nearby, meant = [], elsewhere = [], near }: UnknownPath) => {
    const nothing = `There is nothing at ${cut(path)}`;
    if (near !== undefined) return `${nothing}. Did you mean ${cut(near)}?`;
    if (elsewhere.length > 0)
      return `${nothing}. The base address may be wrong: there is ${listed(elsewhere)}.`;
    const below = nearby === undefined ? "" : `; ${cut(nearby.below)} has ${nearby.next.join(", ")}`;
    const base = meant.length === 0 ? "" : ` The base address may lack its end: there is ${listed(meant)}.`;
    return `${nothing}${below}.${base}`;
  },
  only_works: () =>
    "This node makes what other nodes take in, and answers no callers (role: worker). Send the request to a node that does.",
  method_not_allowed: ({
    method,
    allow,
    instead,
  }: {
    method: string;
    allow: readonly string[];
    instead?: string | undefined;
  }) =>
    `${method} is not taken here; use ${allow.join(" or ")}.${instead === undefined ? "" : ` It is taken at ${instead}.`}`,
} satisfies WordTable;

/** The paths, and for whom the first is: these clients have the same paths as others. */
function listed(paths: readonly string[]): string {
  const named = paths.map((path) =>
    path.startsWith(`${IMAGES_BASE}/`) && paths.length > 1
      ? `${path} (for clients of the images API, with the base address ${IMAGES_BASE})`
      : path,
  );
  return named.join(" and ");
}
