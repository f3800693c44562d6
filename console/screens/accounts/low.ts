import type { Schemas } from "../../api/published.d.ts";

/** Whether an account has less than it asks to be warned at, or nothing. */
export function isLow({
  mode,
  available,
  low_balance,
}: Pick<Schemas["Account"], "mode" | "available" | "low_balance">): boolean {
  if (mode !== "prepaid" || available === null) return false;
  return Number(available) <= 0 || (low_balance !== null && Number(available) < Number(low_balance));
}
