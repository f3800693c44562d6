import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { textOf } from "../client/lenient.ts";

/** A callback of a task, and what became of it. */
export function callbackLine({
  host,
  state,
  attempts,
  last_status: status,
  last_outcome: outcome,
}: JsonObject): string {
  const answer = typeof status === "number" ? `answered ${status}` : textOf(outcome);
  return [`${textOf(state)} at ${textOf(host)}`, `${attempts} sent`, answer].filter(Boolean).join(", ");
}

/** The time of day, to the millisecond. */
export const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 23);

/** The name of an account or a key, or its id. */
export const ownerName = (owner: unknown): string =>
  isJsonObject(owner) ? textOf(owner.name) || textOf(owner.id) : "";
