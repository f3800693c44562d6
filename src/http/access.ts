import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { allowsFeature } from "../domain/access/permissions.ts";
import { type AtHand, whenAtHand } from "../domain/at-hand.ts";
import { AppError } from "../domain/errors.ts";
import type { CountedRequest, RateLimiter } from "../domain/ports/rate-limiter.ts";
import type { Authenticate, AuthenticateOperator, Presented } from "../service/authenticate.ts";
import { requireScope } from "./admin/scopes.ts";
import { presentedBy } from "./console/presented.ts";
import type { Exchange, Handling, KeyedExchange } from "./exchange.ts";
import type { Reply } from "./reply.ts";
import type { Standing, Standings } from "./standing.ts";
import { type StayKind, type Stays, whileStaying } from "./stays.ts";
import type { Turns } from "./turns.ts";

export interface AccessDeps {
  readonly authenticate: Authenticate;
  readonly authenticateOperator: AuthenticateOperator;
  /** Records that a management token was accepted. */
  readonly tokenUsed: (operator: Operator) => void;
  readonly rateLimiter: RateLimiter;
  readonly stays: Stays;
  readonly standings: Standings;
  /** Turns for requests with a key, by account. */
  readonly turns: Turns;
  /** Turns for requests without a key, by `Exchange.subscriber`. */
  readonly guestTurns: Turns;
}

/** A request during its admission, with what is known about it so far, for its log line and its answer. */
export type Entering = Omit<Exchange, "isLate"> & {
  isLate: boolean;
  principal?: Principal;
  operator?: Operator;
  limitHeaders?: Readonly<Record<string, string>>;
  /** Whether a caller that was admitted may still be answered. */
  standing?: Pick<Standing, "lateRefusal">;
  stay?: KeyedExchange["stay"];
  count?: KeyedExchange["count"];
};

/**
 * Passes a request to its endpoint if its caller may use it. Before the body is read, it checks the credential and its kind,
 * then the feature, then the request limit. Only counting a request is asynchronous.
 */
export function enter(deps: AccessDeps, endpoint: Handling, exchange: Entering): Reply | Promise<Reply> {
  if (endpoint.access === "public") {
    const nameOf = () => exchange.subscriber;
    return deps.guestTurns(nameOf, (isLate) => {
      exchange.isLate = isLate;
      return endpoint.handle(exchange);
    });
  }
  const credential = presentedBy(exchange, endpoint.path);
  return endpoint.access === "management"
    ? enterManaged(deps, endpoint, exchange, credential)
    : enterKeyed(deps, endpoint, exchange, credential);
}

function enterManaged(
  deps: AccessDeps,
  endpoint: Extract<Handling, { access: "management" }>,
  exchange: Entering,
  credential: Presented | undefined,
): Reply | Promise<Reply> {
  const handle = endpoint.isStreaming === true ? staying(endpoint.handle) : endpoint.handle;
  const { scope } = endpoint;
  const check = () =>
    whenAtHand(deps.authenticateOperator(credential), (operator) => {
      if (scope !== undefined) requireScope(operator, scope);
      return operator;
    });
  const standing = deps.standings(endpoint.path, check, exchange.startedAt);
  return whenAtHand(check(), (operator) => {
    deps.tokenUsed(operator);
    const stay = (kind: StayKind) => deps.stays(kind, operator);
    // What an operator asks for makes no account wait longer than it takes.
    return deps.turns.aside(() => handle(Object.assign(exchange, { operator, standing, stay })));
  });
}

function enterKeyed(
  deps: AccessDeps,
  endpoint: Extract<Handling, { access: "api_key" }>,
  exchange: Entering,
  credential: Presented | undefined,
): Reply | Promise<Reply> {
  const { feature, isCounted, path } = endpoint;
  const handle = endpoint.isStreaming === true ? staying(endpoint.handle) : endpoint.handle;
  const check = () =>
    whenAtHand(deps.authenticate(credential, exchange), (principal) => {
      if (feature === undefined || allowsFeature(principal.policy, feature)) return principal;
      throw new AppError("permission_denied", { kind: "feature_forbidden", feature });
    });
  const letIn = (principal: Principal) => {
    const perMinute = principal.policy.requestsPerMinute;
    // One by one: every request comes by, and to assign an object takes longer than most handlers do.
    exchange.principal = principal;
    exchange.standing = deps.standings(path, check, exchange.startedAt);
    exchange.stay = (kind) => deps.stays(kind, principal);
    exchange.count = async () => {
      if (perMinute !== undefined) await countRequest(deps, keyed, perMinute);
    };
    // It has all of them now.
    const keyed = exchange as Entering & KeyedExchange;
    const begin = () =>
      isCounted !== true || perMinute === undefined
        ? handle(keyed)
        : countRequest(deps, keyed, perMinute).then(() => handle(keyed));
    return deps.turns(principal.accountId, begin);
  };
  const refuse = (error: unknown) => deps.guestTurns(exchange.subscriber, () => Promise.reject(error));
  let found: AtHand<Principal>;
  try {
    found = check();
  } catch (error) {
    return refuse(error);
  }
  return found instanceof Promise ? found.then(letIn, refuse) : letIn(found);
}

/** A stream keeps its place as long as it lasts. */
function staying<Staying extends Pick<KeyedExchange, "stay">>(
  handle: (exchange: Staying) => Reply | Promise<Reply>,
) {
  return (exchange: Staying) => whileStaying(exchange.stay("streams"), () => handle(exchange));
}

/** @throws AppError `rate_limit_exceeded` */
async function countRequest(
  { rateLimiter }: AccessDeps,
  exchange: Entering & KeyedExchange,
  perMinute: number,
): Promise<void> {
  const counted = await rateLimiter.take(exchange.principal.keyId, perMinute);
  const resetsInSec = Math.ceil(counted.resetsInMs / 1000);
  exchange.limitHeaders = limitHeaders(counted, resetsInSec);
  if (counted.isAllowed) return;
  const facts = { kind: "too_many_requests", perMinute, retryAfterSec: resetsInSec } as const;
  throw new AppError("rate_limit_exceeded", facts, { retryAfterSec: resetsInSec });
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-10, and the one that clients of the images API read first. */
function limitHeaders(counted: CountedRequest, resetsInSec: number): Record<string, string> {
  const headers: Record<string, string> = {
    "RateLimit-Policy": `"requests";q=${counted.limit};w=60`,
    RateLimit: `"requests";r=${counted.remaining};t=${resetsInSec}`,
  };
  if (!counted.isAllowed) headers["retry-after-ms"] = String(counted.resetsInMs);
  return headers;
}
