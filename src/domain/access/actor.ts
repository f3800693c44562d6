import type { Operator } from "./account.ts";

/** Who changes something. */
export type Actor =
  /** A management token, over HTTP. */
  | ({ readonly kind: "token" } & Operator)
  /** A user of the machine, by a command on the data folder. */
  | { readonly kind: "local"; readonly name: string }
  /** The settings file. */
  | { readonly kind: "file" }
  /** The service itself, such as at its first start. */
  | { readonly kind: "system" };

export const actorOf = (operator: Operator): Actor => ({ kind: "token", ...operator });

/** The actor as the ledger names it: a token's id, or `operator` for everybody else. */
export function ledgerActor(actor: Actor): string {
  return actor.kind === "token" ? actor.tokenId : "operator";
}
