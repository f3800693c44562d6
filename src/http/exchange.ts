import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import type { Feature } from "../domain/access/key-policy.ts";
import type { Scope } from "../domain/access/token-terms.ts";
import type { ShedClass } from "../domain/shedding.ts";
import { scopeOf } from "./admin/scopes.ts";
import type { Intake } from "./ingress/incoming.ts";
import type { EndpointContract } from "./openapi/contract.ts";
import type { Reply } from "./reply.ts";
import type { Standing } from "./standing.ts";
import type { StayKind } from "./stays.ts";

/** How a request arrived. */
export interface Connection {
  /** Whether it came to the address for long requests, which has no time limit. */
  readonly isLong: boolean;
  /** The address of the other end of the socket; undefined once it is closed. */
  readonly address: () => string | undefined;
}

/** One request on its way through an endpoint. */
export interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  /** Milliseconds on the clock that never jumps. */
  readonly startedAt: number;
  /** As sent. */
  readonly path: string;
  /** Scheme and host by which the caller reaches this service; asset URLs start with it. */
  readonly origin: string;
  /** The caller's address; undefined when it is unknown. */
  readonly address: string | undefined;
  /** Path parameters. */
  readonly param: (name: string) => string;
  readonly query: () => URLSearchParams;
  /** Whether it had to wait for a later turn of the event loop than it arrived in. Known of requests without a credential. */
  readonly isLate: boolean;
  /** The way to the request's body. */
  readonly intake: Intake;
  /** The `traceparent` of what it leads to; undefined where nobody traces it. */
  readonly trace: string | undefined;
  /** When the answer is due, on the clock that never jumps, in milliseconds; undefined where requests are not cut. */
  readonly edgeDeadline: () => number | undefined;
}

export interface KeyedExchange extends Exchange {
  readonly principal: Principal;
  /** Whether the caller may still be answered, for answers during which its key may be revoked. */
  readonly standing: Standing;
  /** Takes a place for a connection that stays. @returns what gives it back @throws AppError when there is none */
  readonly stay: (kind: StayKind) => () => void;
  /**
   * Counts it against the key's requests per minute, for endpoints that only some of whose requests count.
   * @throws AppError `rate_limit_exceeded`
   */
  readonly count: () => Promise<void>;
}

export interface ManagedExchange extends Exchange {
  readonly operator: Operator;
  /** Whether the token is still valid, for requests that arrive slowly. */
  readonly standing: Standing<Operator>;
  /** As of a keyed exchange. */
  readonly stay: (kind: StayKind) => () => void;
}

/** What endpoints need that answer late. */
export interface LateAnswerDeps {
  /** Milliseconds on the clock that never jumps. */
  readonly elapsed: () => number;
  /** Aborts when the wait is to end before the service stops. */
  readonly stopping: AbortSignal;
  /** Lifts the server's own limit on how long a request may stay open. */
  readonly keepOpen: (request: Request) => void;
}

interface HandlingBase {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  readonly path: string;
  /** Endpoints that clients poll are logged at debug level. */
  readonly logLevel?: "info" | "debug";
  /** Its path holds what opens it, so neither log nor answer shows more than its pattern. */
  readonly isSecret?: boolean;
  /** As what it is refused while there is too much to do; absent: it never is. */
  readonly sheds?: ShedClass | undefined;
  /** Exempt from the default address's time limit: the answer begins at once and may last. */
  readonly isStreaming?: boolean;
}

interface OpenHandling extends HandlingBase {
  readonly access: "public";
  readonly handle: (exchange: Exchange) => Reply | Promise<Reply>;
}

interface KeyedHandling extends HandlingBase {
  readonly access: "api_key";
  /** The feature that the key must have. */
  readonly feature?: Feature;
  /** Whether it counts against the key's requests per minute. */
  readonly isCounted?: true;
  readonly handle: (exchange: KeyedExchange) => Reply | Promise<Reply>;
}

interface ManagedHandling extends HandlingBase {
  readonly access: "management";
  /** What the token must have; absent where every valid token will do. */
  readonly scope?: Scope | undefined;
  readonly handle: (exchange: ManagedExchange) => Reply | Promise<Reply>;
}

/** What answers a method on a path, with or without a credential. */
export type Handling = OpenHandling | KeyedHandling | ManagedHandling;

/** A handling that the published document describes. */
export type Endpoint = Handling & { readonly contract: EndpointContract };

/** An endpoint that everybody may read. */
export function open(path: string, contract: EndpointContract, handle: OpenHandling["handle"]): Endpoint {
  return { method: "GET", path, contract, access: "public", logLevel: "debug", handle };
}

/** An endpoint for API keys. */
export function keyed(
  method: Endpoint["method"],
  path: string,
  contract: EndpointContract,
  options: Pick<KeyedHandling, "feature" | "isCounted" | "isStreaming" | "logLevel" | "sheds">,
  handle: KeyedHandling["handle"],
): Endpoint {
  return { method, path, contract, access: "api_key", ...options, handle };
}

/** An endpoint that clients poll with an API key. */
export function polled(
  path: string,
  contract: EndpointContract,
  handle: KeyedHandling["handle"],
  sheds?: ShedClass,
): Endpoint {
  return keyed("GET", path, contract, { logLevel: "debug", sheds }, handle);
}

/** A POST that counts against the key's requests per minute. */
export function counted(
  path: string,
  contract: EndpointContract,
  handle: KeyedHandling["handle"],
  sheds?: ShedClass,
): Endpoint {
  return keyed("POST", path, contract, { isCounted: true, sheds }, handle);
}

/** A stream of events for API keys. */
export function followed(
  path: string,
  contract: EndpointContract,
  handle: KeyedHandling["handle"],
): Endpoint {
  return keyed("GET", path, contract, { logLevel: "debug", isStreaming: true }, handle);
}

/** An endpoint for management tokens with the scope that `admin/scopes.ts` names. */
export function managed(
  method: Endpoint["method"],
  path: string,
  contract: EndpointContract,
  handle: ManagedHandling["handle"],
): Endpoint {
  return { method, path, contract, access: "management", scope: scopeOf(method, path), handle };
}

/** A stream of events for management tokens. */
export function managedStream(
  path: string,
  contract: EndpointContract,
  handle: ManagedHandling["handle"],
): Endpoint {
  return {
    method: "GET",
    path,
    contract,
    access: "management",
    scope: scopeOf("GET", path),
    logLevel: "debug",
    isStreaming: true,
    handle,
  };
}
