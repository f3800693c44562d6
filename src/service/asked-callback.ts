import type { CallbackTerms } from "../domain/callback/callback.ts";
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Task } from "../domain/task/task.ts";

/** Where and how a task's events are sent, if not to the `callback_url` of its create. */
export interface AskedCallback extends CallbackTerms {
  readonly url: string;
}

const NOBODY = {};

/**
 * Where a task's events are sent: to the address from a facade, else to its `callback_url`.
 * @throws AppError `invalid_request` naming `callback_url` if the address can be refused without a look-up
 */
export function callbackOf(
  { egress }: { readonly egress: Pick<Egress, "refusal"> },
  { callback_url: own }: JsonObject,
  asked: AskedCallback | undefined,
): Pick<Task, "callbackUrl" | "callbackTerms"> {
  if (asked === undefined && typeof own !== "string") return NOBODY;
  const { url: callbackUrl = own, ...terms } = asked ?? {};
  if (typeof callbackUrl !== "string") return NOBODY;
  const refusal = egress.refusal(callbackUrl, "callback");
  if (refusal === undefined) return { callbackUrl, ...("form" in terms && { callbackTerms: terms }) };
  // Whoever tries callbacks on a machine of their own meets this first.
  const { clause, isAllowable } = refusal;
  const way = isAllowable ? "; the server's setting egress.allow lets addresses through" : "";
  throw invalid({ kind: "finding", field: "callback_url", finding: `${clause}${way}` });
}

/** Where and how the events of a similar new task are sent, if its body does not say so. */
export function callbackLike({ callbackUrl: url, callbackTerms: terms }: Task): AskedCallback | undefined {
  return url === undefined || terms === undefined ? undefined : { ...terms, url };
}
