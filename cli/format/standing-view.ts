import type { Json, JsonObject } from "../../src/domain/json.ts";

/** `refused: 401`, or of one account of several `fal/second open: 500`. */
export function troubleText({ account, state, detail }: JsonObject, provider: string): string {
  const what = account === provider ? stateText(state) : `${String(account)} ${stateText(state)}`;
  return detail === undefined ? what : `${what}: ${String(detail)}`;
}

/** A state as people read it. */
export function stateText(state: Json | undefined): string {
  return String(state).replaceAll("_", " ");
}
