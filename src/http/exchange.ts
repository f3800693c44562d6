import type { Principal } from "../domain/account.ts";
import type { Reply } from "./reply.ts";

/** One request on its way through a route. */
export interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  /** Scheme and host by which the caller reaches this service; asset URLs start with it. */
  readonly origin: string;
  /** Path parameters. */
  readonly param: (name: string) => string;
  readonly query: () => URLSearchParams;
}

export interface KeyedExchange extends Exchange {
  readonly principal: Principal;
}

interface RouteBase {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Answers asked for again and again are logged for debugging only. */
  readonly logLevel?: "info" | "debug";
}

/** A route with or without a credential; the type of its handler follows. */
export type Route =
  | (RouteBase & {
      readonly access: "public";
      readonly handle: (exchange: Exchange) => Reply | Promise<Reply>;
    })
  | (RouteBase & {
      readonly access: "api_key";
      readonly handle: (exchange: KeyedExchange) => Reply | Promise<Reply>;
    });
