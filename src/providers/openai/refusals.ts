import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import {
  type Meaning,
  meaningOfStatus,
  meaningOfWord,
  type Refusal,
  refusalOf,
  textIn,
} from "../kit/classify.ts";
import type { Upstream, UpstreamAnswer } from "../kit/http.ts";

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
  model_not_found: "refused",
  model_not_available: "refused",
  unsupported_country_region_territory: "refused",
  // Our translation chose the fields, so the caller is not at fault.
  unknown_parameter: "refused",
  unsupported_parameter: "refused",
  sync_image_timeout: "unclear",
  upstream_timeout: "unclear",
};

/** Reads an error answer: `{"error":{"message","type","param","code"}}`, or nothing readable. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const error = isJsonObject(answer.json) && isJsonObject(answer.json.error) ? answer.json.error : {};
  return read(upstream, answer, error, (type) => meaningOf(answer.status, type));
}

/** Reads an error in an answer that began as a success. If something was made before it, only a fault of the request is certain. */
export function readErrorEvent(
  upstream: Upstream,
  answer: UpstreamAnswer,
  error: JsonObject,
  hasBegun: boolean,
): Refusal {
  const refusal = read(upstream, answer, error, (type) => meaningOfWord(TYPES, type) ?? "unclear");
  const isSure = !hasBegun || refusal.meaning === "moderated" || refusal.meaning === "bad_input";
  return isSure ? refusal : { ...refusal, meaning: "unclear" };
}

function read(
  upstream: Upstream,
  answer: UpstreamAnswer,
  error: JsonObject,
  otherwise: (type: string | undefined) => Meaning,
): Refusal {
  const code = textIn(error.code);
  const type = textIn(error.type);
  const meaning = meaningOfWord(WORDS, code) ?? meaningOfWord(WORDS, type) ?? otherwise(type);
  return refusalOf(upstream, answer, meaning, { word: code ?? type, message: textIn(error.message) });
}

/** A 500 in the API's own words means the request is over. From a proxy it means nothing: the request may go on. */
function meaningOf(status: number, type: string | undefined): Meaning {
  return status === 500 && type !== undefined ? "broken" : meaningOfStatus(status);
}

/** Values of `error.type` that classify an error without a status of its own. */
const TYPES: Readonly<Record<string, Meaning>> = {
  invalid_request_error: "bad_input",
  rate_limit_error: "busy",
  authentication_error: "refused",
  permission_error: "refused",
};
