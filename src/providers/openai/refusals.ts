import type { JsonObject } from "../../domain/json.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfError, meaningOfStatus, meaningOfWord, refusalOf } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { type ErrorWords, readErrorWords } from "../kit/said.ts";

/** Values of `error.code` and `error.type` that mean more than the status does. */
const WORDS: Readonly<Record<string, Meaning>> = {
  moderation_blocked: "moderated",
  content_policy_violation: "moderated",
  content_filter: "moderated",
  image_generation_user_error: "moderated",
  // The same status as for a rate limit, but waiting does not help.
  insufficient_quota: "spent",
  insufficient_quota_error: "spent",
  billing_hard_limit_reached: "spent",
  billing_not_active: "spent",
  rate_limit_exceeded: "busy",
  invalid_api_key: "refused",
  permission_denied: "refused",
  model_not_found: "refused",
  model_not_available: "refused",
  unsupported_country_region_territory: "refused",
  loop_detected: "looped",
  // Our translation chose the fields, so the caller is not at fault.
  unknown_parameter: "refused",
  unsupported_parameter: "refused",
  sync_image_timeout: "slow",
  upstream_timeout: "slow",
};

/** Whether an error's word means that the content policy refused something. */
export function isModeration(word: string | undefined): boolean {
  return meaningOfWord(WORDS, word) === "moderated";
}

/** Reads an error answer: `{"error":{"message","type","param","code"}}`, or any other shape that servers of this API use. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const words = readErrorWords(answer);
  return read(upstream, answer, words, () => meaningOfError(answer.status, words));
}

/** Reads an error in an answer that began as a success. If something was made before it, only a fault of the request is certain. */
export function readErrorEvent(
  upstream: Upstream,
  answer: UpstreamAnswer,
  error: JsonObject,
  hasBegun: boolean,
): Refusal {
  const words = readErrorWords({ json: { error } });
  const refusal = read(upstream, answer, words, () => meaningOfWord(TYPES, words.type) ?? "unclear");
  const isSure = !hasBegun || refusal.meaning === "moderated" || refusal.meaning === "bad_input";
  return isSure ? refusal : { ...refusal, meaning: "unclear" };
}

/** Reads why a job failed: `{code, message}` of its record, whose code may be a status. */
export function readJobFailure(upstream: Upstream, answer: UpstreamAnswer, error: JsonObject): Refusal {
  const words = readErrorWords({ json: { error } });
  const isBadInput = typeof error.code === "number" && meaningOfStatus(error.code) === "bad_input";
  return read(upstream, answer, words, () => (isBadInput ? "bad_input" : "broken"));
}

function read(
  upstream: Upstream,
  answer: UpstreamAnswer,
  { code, type, message }: ErrorWords,
  otherwise: () => Meaning,
): Refusal {
  const meaning = meaningOfWord(WORDS, code) ?? meaningOfWord(WORDS, type) ?? otherwise();
  return refusalOf(upstream, answer, meaning, { word: code ?? type, message });
}

/** Values of `error.type` that classify an error without a status of its own. */
const TYPES: Readonly<Record<string, Meaning>> = {
  invalid_request_error: "bad_input",
  rate_limit_error: "busy",
  authentication_error: "refused",
  permission_error: "refused",
};
