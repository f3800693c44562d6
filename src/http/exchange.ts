import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import type { Feature } from "../domain/access/key-policy.ts";
import type { Scope } from "../domain/access/token-terms.ts";
import type { AccountId } from "../domain/ids.ts";
import type { ShedClass } from "../domain/shedding.ts";
import { scopeOf } from "./admin/scopes.ts";
import type { Intake } from "./ingress/incoming.ts";
import type { EndpointContract } from "./openapi/contract.ts";
import type { Reply } from "./reply.ts";
import type { Standing } from "./standing.ts";
import type { StayKind } from "./stays.ts";

/** How a request arrived. */
export interface Connection {
  /** Whether it was sent to the address for long requests, which has no time limit. */
  readonly isLong: boolean;
  /** The address of the socket's other end; undefined after it is closed. */
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
  /** Scheme and host at which the caller reaches this service; asset URLs start with it. */
  readonly origin: string;
  /** The caller's address; undefined when it is unknown. */
  readonly address: string | undefined;
  /** Who counts as one caller among those without a credential: `Addresses.subscriber` of the address. */
  readonly subscriber: string;
  /** Path parameters. */
  readonly param: (name: string) => string;
  readonly query: () => URLSearchParams;
  /**
   * Whether it waited for a later turn of the event loop than the one in which it arrived. Known for requests without a
   * credential.
   */
  readonly isLate: boolean;
  /** Gives access to the request's body. */
  readonly intake: Intake;
  /** The same where an address permits what a key would: the body counts as this account's. */
  readonly intakeFor: (account: AccountId) => Intake;
  /** The `traceparent` for what the request causes; undefined if it is not traced. */
  readonly trace: string | undefined;
  /** When the answer is due, in milliseconds on the clock that never jumps; undefined if requests are not cut. */
  readonly edgeDeadline: () => number | undefined;
}

export interface KeyedExchange extends Exchange {
  readonly principal: Principal;
  /** Whether the caller may still be answered, for answers that last so long that the key may be revoked meanwhile. */
  readonly standing: Standing;
  /**
   * Takes a place for a connection that stays open. @returns a function that gives it back @throws AppError when no place is
   * free
   */
  readonly stay: (kind: StayKind) => () => void;
  /**
   * Counts it against the key's requests per minute, for endpoints of which only some requests count.
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

/** What endpoints that answer late need. */
export interface LateAnswerDeps {
  /** Milliseconds on the clock that never jumps. */
  readonly elapsed: () => number;
  /** Aborts when the wait must end before the service stops. */
  readonly stopping: AbortSignal;
  /** Lifts the server's own limit on how long a request may stay open. */
  readonly keepOpen: (request: Request) => void;
}

interface HandlingBase {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  readonly path: string;
  /** Endpoints that clients poll are logged at debug level. */
  readonly logLevel?: "info" | "debug";
  /** Its path contains a secret, so the log and answers show only its pattern. */
  readonly isSecret?: boolean;
  /** The class as which it is refused under overload; absent: it is never refused. */
  readonly sheds?: ShedClass | undefined;
  /** With other methods the path is an unknown one: its parameters also fit paths that there are not. */
  readonly isKnownByMethod?: boolean;
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
  /** The scope that the token must have; absent if any valid token is enough. */
  readonly scope?: Scope | undefined;
  readonly handle: (exchange: ManagedExchange) => Reply | Promise<Reply>;
}

/** Answers a method on a path, with or without a credential. */
export type Handling = OpenHandling | KeyedHandling | ManagedHandling;

/** A handler that the published document describes. */
export type Endpoint = Handling & { readonly contract: EndpointContract };

/** An endpoint that anybody may read. */
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
