import { session } from "../api/session.ts";

/** Whether the reader's token has a scope. The service decides; this only keeps buttons away that would be refused. */
export function may(scope: "read" | "keys" | "money" | "system"): boolean {
  return session.value?.scopes.includes(scope) === true;
}
