import type { Operator, Principal } from "../domain/access/account.ts";
import type { Feature } from "../domain/access/key-policy.ts";
import type { EndpointContract } from "./openapi/contract.ts";
import type { Reply } from "./reply.ts";

/** How a request got here. */
export interface Connection {
  /** By the address for requests that take long, which cuts none. */
  readonly isLong: boolean;
  /** Of the other end of the socket; absent once that is gone. */
  readonly address: () => string | undefined;
}

/** One request on its way through an endpoint. */
export interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  /** Scheme and host by which the caller reaches this service; asset URLs start with it. */
  readonly origin: string;
  /** Of the caller; undefined when nobody can tell. */
  readonly address: string | undefined;
  /** Path parameters. */
  readonly param: (name: string) => string;
  readonly query: () => URLSearchParams;
  /** When to have answered, in milliseconds of the clock that never jumps; undefined where nothing is cut. */
  readonly edgeDeadline: () => number | undefined;
}

export interface KeyedExchange extends Exchange {
  readonly principal: Principal;
  /** Whether the key would be taken now; for answers that go on after it may have been revoked. */
  readonly isStillAllowed: () => boolean;
}

export interface ManagedExchange extends Exchange {
  readonly operator: Operator;
}

interface EndpointBase {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  /** Answers asked for again and again are logged for debugging only. */
  readonly logLevel?: "info" | "debug";
  /** Left out of the limit of the default address: the answer begins at once and takes as long as it takes. */
  readonly isStreaming?: boolean;
}

/** What answers a method on a path, with or without a credential; the type of its handler follows. */
export type Handling =
  | (EndpointBase & {
      readonly access: "public";
      readonly handle: (exchange: Exchange) => Reply | Promise<Reply>;
    })
  | (EndpointBase & {
      readonly access: "api_key";
      /** What the key must be allowed. */
      readonly feature?: Feature;
      /** Counted against the requests the key may make in a minute. */
      readonly isCounted?: true;
      readonly handle: (exchange: KeyedExchange) => Reply | Promise<Reply>;
    })
  | (EndpointBase & {
      readonly access: "management";
      readonly handle: (exchange: ManagedExchange) => Reply | Promise<Reply>;
    });

/** A handling that the published document describes. */
export type Endpoint = Handling & { readonly contract: EndpointContract };
