import type { Tested } from "../../domain/ports/provider.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import { NoAnswer } from "./http.ts";
import type { Refusal } from "./refusal.ts";

/** What a refused test says of the account. */
export function testedBy({ meaning, detail }: Refusal): Tested {
  return { kind: meaning === "refused" || meaning === "spent" ? meaning : "failed", detail };
}

/** What a test without an answer says. @throws what is neither trouble of the upstream nor of the way there */
export function testedByError(error: unknown): Tested {
  if (error instanceof NoAnswer && error.refusal !== undefined) return testedBy(error.refusal);
  if (error instanceof NoAnswer) return { kind: "unreachable", detail: error.message };
  if (error instanceof ProviderError) return { kind: "failed", detail: error.message };
  throw error;
}
