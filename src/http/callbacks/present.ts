import type { Callback } from "../../domain/callback/callback.ts";
import { callbackForm } from "../../domain/callback/callback-form.ts";
import type { JsonObject } from "../../domain/json.ts";

/** A callback as an entry of its owner's list. */
export function presentCallback(callback: Callback, maxAttempts: number): JsonObject {
  const { id, task_id, request_id, ...rest } = callbackForm(callback, maxAttempts);
  return { id, task_id, request_id, url: callback.url, ...rest };
}
