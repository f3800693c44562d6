import type { CallbackTerms } from "../../../domain/callback/callback.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { CallbackForm, SentBody, ToldEvent } from "../../../domain/ports/callback-forms.ts";
import type { FormDeps } from "../form-deps.ts";
import { failureOf } from "./failure.ts";
import { toldError } from "./manners.ts";
import { outputOf } from "./present.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** That API tries ten times more, within two hours (https://fal.ai/docs/model-endpoints/webhooks, checked 2026-11-27). */
const DELAYS_MS = [
  ...[5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE],
  ...[5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 35 * MINUTE, 45 * MINUTE],
];

/** How a task's events are sent if its create named a webhook. */
export const WEBHOOK: CallbackTerms = {
  form: "fal",
  events: ["completed", "failed", "cancelled"],
  attempts: DELAYS_MS.length + 1,
};

/** Webhooks of that API, signed with a key of ours that receivers read below our base. */
export function createFalForm(deps: FormDeps): CallbackForm {
  return {
    delaysMs: DELAYS_MS,
    isSignedByKey: false,
    body: async (told) => JSON.stringify(await bodyOf(deps, told)),
    headers: (send) => headersOf(deps, send),
  };
}

async function bodyOf(deps: FormDeps, { task, origin }: ToldEvent): Promise<JsonObject> {
  const ids = { request_id: task.id, gateway_request_id: task.id };
  if (task.status === "completed") {
    return { ...ids, status: "OK", payload: await outputOf(deps, task, origin) };
  }
  const { status, body } = toldError(await failureOf(deps, task));
  return { ...ids, status: "ERROR", error: `Invalid status code: ${status}`, payload: body };
}

/** The signature is of the request, the account, the time and the body's hash, a line each. */
function headersOf({ signing, secrets }: FormDeps, { task, at, body }: SentBody): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND));
  const signed = [task.id, task.accountId, timestamp, secrets.hash(body)].join("\n");
  return {
    "X-Fal-Webhook-Request-Id": task.id,
    "X-Fal-Webhook-User-Id": task.accountId,
    "X-Fal-Webhook-Timestamp": timestamp,
    "X-Fal-Webhook-Signature": signing.sign(signed),
  };
}
