import type { TokenId } from "../ids.ts";
import type { Scope } from "./token-terms.ts";

/** Who manages the service, after a management token was accepted. */
export interface Operator {
  readonly tokenId: TokenId;
  readonly tokenName: string;
  /** What the token may do. */
  readonly scopes: readonly Scope[];
  /** When the token expires, in epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}

/** Who changes something. */
export type Actor =
  /** A management token, over HTTP. */
  | ({ readonly kind: "token" } & Operator)
  /** A user of the machine, by a command on the data folder. */
  | { readonly kind: "local"; readonly name: string }
  /** The settings file. */
  | { readonly kind: "file"; readonly name: string }
  /** The service itself, such as at its first start. */
  | { readonly kind: "system" };

/** A change that somebody makes now. The store writes the trail entry from it, in the transaction of the change. */
export interface Act {
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const actorOf = (operator: Operator): Actor => ({ kind: "token", ...operator });

/** The actor's name in the ledger: a token's id, or `operator` for everybody else. */
export function ledgerActor(actor: Actor): string {
  return actor.kind === "token" ? actor.tokenId : "operator";
}
