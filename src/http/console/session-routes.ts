import { SESSION_MS } from "../../domain/access/console-session.ts";
import { AppError } from "../../domain/errors.ts";
import type { RateLimiter } from "../../domain/ports/rate-limiter.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { ConsoleSessions, Visitor } from "../../service/console-session.ts";
import { readJsonBody } from "../body.ts";
import type { Endpoint, Exchange } from "../exchange.ts";
import { type Reply, success } from "../reply.ts";
import { check } from "../wire/check.ts";
import { noSessionCookies, requireOwnPage, sessionCookies, sessionOf } from "./presented.ts";
import { END_SESSION, NEW_SESSION, OPEN_SESSION, READ_SESSION } from "./session-wire.ts";

export interface SessionEndpointDeps {
  readonly consoleSessions: ConsoleSessions;
  readonly rateLimiter: Pick<RateLimiter, "take">;
  readonly clock: Pick<Clock, "now">;
  /** Of this program. */
  readonly version: string;
}

/** Limits attempts to sign in from one address, or one network of IPv6. Nobody can guess a secret; the limit keeps attempts from costing much. */
const TRIES_PER_MINUTE = 60;
const NOT_KEPT = { "Cache-Control": "no-store" };

/** /console/session. */
export function sessionEndpoints(deps: SessionEndpointDeps): Endpoint[] {
  return [
    endpoint("GET", READ_SESSION, (exchange) => read(deps, exchange)),
    endpoint("POST", OPEN_SESSION, (exchange) => open(deps, exchange)),
    endpoint("DELETE", END_SESSION, (exchange) => end(deps, exchange)),
  ];
}

function endpoint(
  method: Endpoint["method"],
  contract: Endpoint["contract"],
  handle: (exchange: Exchange) => Reply | Promise<Reply>,
): Endpoint {
  return { method, path: "/console/session", contract, access: "public", handle };
}

async function open(deps: SessionEndpointDeps, exchange: Exchange): Promise<Reply> {
  const { consoleSessions, clock } = deps;
  requireOwnPage(exchange.request);
  await countTry(deps, exchange);
  const { body } = await readJsonBody(exchange);
  check(NEW_SESSION, body);
  // The schema has checked that it is of this type.
  const { credential, link } = body as { readonly credential?: string; readonly link?: string };
  const opened =
    link === undefined
      ? await consoleSessions.signIn(credential?.trim() ?? "", exchange)
      : await consoleSessions.openLink(link);
  // A browser has one session at a time, and a session that was planted before ends here.
  const earlier = sessionOf(exchange.request);
  if (earlier !== undefined) await consoleSessions.end(earlier);
  const maxAgeSec = Math.floor((opened.session.expiresAt - clock.now()) / 1000);
  return {
    ...success(await whoIs(deps, exchange, opened.secret), NOT_KEPT),
    cookies: sessionCookies(opened.secret, exchange.origin, Math.min(maxAgeSec, SESSION_MS / 1000)),
  };
}

/** Says who is signed in. If nobody is, a page shows how to sign in. */
async function read(deps: SessionEndpointDeps, exchange: Exchange): Promise<Reply> {
  const secret = sessionOf(exchange.request);
  const nobody = () => success({ session: null, version: deps.version }, NOT_KEPT);
  if (secret === undefined) return nobody();
  try {
    return success(await whoIs(deps, exchange, secret), NOT_KEPT);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_api_key") throw error;
    return { ...nobody(), cookies: noSessionCookies(exchange.origin) };
  }
}

async function end({ consoleSessions }: SessionEndpointDeps, exchange: Exchange): Promise<Reply> {
  requireOwnPage(exchange.request);
  const secret = sessionOf(exchange.request);
  if (secret !== undefined) await consoleSessions.end(secret);
  return { ...success({}, NOT_KEPT), cookies: noSessionCookies(exchange.origin) };
}

async function whoIs({ consoleSessions, version }: SessionEndpointDeps, exchange: Exchange, secret: string) {
  return { session: present(await consoleSessions.visitor(secret, exchange)), version };
}

function present(visitor: Visitor) {
  const { kind, session } = visitor;
  const until = Math.min(
    session.expiresAt,
    kind === "operator" ? (visitor.operator.expiresAt ?? Infinity) : Infinity,
  );
  return {
    id: session.id,
    role: kind,
    holder:
      kind === "operator"
        ? { id: visitor.operator.tokenId, name: visitor.operator.tokenName }
        : { id: visitor.principal.keyId, name: visitor.principal.keyName },
    account_id: kind === "operator" ? null : visitor.principal.accountId,
    scopes: kind === "operator" ? visitor.operator.scopes : [],
    expires_at: Math.floor(until / 1000),
  };
}

async function countTry({ rateLimiter }: SessionEndpointDeps, { subscriber }: Exchange): Promise<void> {
  const { isAllowed, resetsInMs } = await rateLimiter.take(`sign-in ${subscriber}`, TRIES_PER_MINUTE);
  if (isAllowed) return;
  const retryAfterSec = Math.ceil(resetsInMs / 1000);
  throw new AppError("rate_limit_exceeded", { kind: "too_many_sign_ins", retryAfterSec }, { retryAfterSec });
}
