import type { CallbackTerms } from "../domain/callback/callback.ts";
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Task } from "../domain/task/task.ts";

/** Where a task is told of, and how, where that is not by `callback_url` of its create. */
export interface AskedCallback extends CallbackTerms {
  readonly url: string;
}

const NOBODY = {};

/**
 * Where a task is told of: as a facade asks, else by its `callback_url`.
 * @throws AppError `invalid_request` naming `callback_url` for an address that can be refused without looking anything up
 */
export function callbackOf(
  { egress }: { readonly egress: Pick<Egress, "refusal"> },
  { callback_url: own }: JsonObject,
  asked: AskedCallback | undefined,
): Pick<Task, "callbackUrl" | "callbackTerms"> {
  if (asked === undefined && typeof own !== "string") return NOBODY;
  const { url: callbackUrl = own, ...terms } = asked ?? {};
  if (typeof callbackUrl !== "string") return NOBODY;
  const finding = egress.refusal(callbackUrl, "callback");
  if (finding !== undefined) throw invalid({ kind: "finding", field: "callback_url", finding });
  return { callbackUrl, ...("form" in terms && { callbackTerms: terms }) };
}

/** Where and how a task like this one is told of, if not by its body. */
export function callbackLike({ callbackUrl: url, callbackTerms: terms }: Task): AskedCallback | undefined {
  return url === undefined || terms === undefined ? undefined : { ...terms, url };
}
