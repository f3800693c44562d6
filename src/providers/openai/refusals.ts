import { isJsonObject, type Json } from "../../domain/json.ts";
import {
  describeAnswer,
  type Meaning,
  meaningOfStatus,
  type Refusal,
  retryAfterMs,
} from "../kit/classify.ts";
import type { Upstream, UpstreamAnswer } from "../kit/http.ts";

/** Words of that API whose meaning its statuses do not tell, from `error.code` and `error.type`. */
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
  // What we call a field is our affair, not the caller's.
  unknown_parameter: "refused",
  unsupported_parameter: "refused",
  sync_image_timeout: "unclear",
  upstream_timeout: "unclear",
};

/** What an answer that is no success says: `{"error":{"message","type","param","code"}}`, or nothing readable. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const error = isJsonObject(answer.json) && isJsonObject(answer.json.error) ? answer.json.error : {};
  const code = text(error.code);
  const type = text(error.type);
  const message = text(error.message);
  const detail = describeAnswer(upstream, answer, { word: code ?? type, message });
  return {
    meaning: wordOf(code) ?? wordOf(type) ?? meaningOf(answer.status, type),
    detail,
    inputProblem: message === undefined ? undefined : upstream.scrub(message),
    retryAfterMs: retryAfterMs(answer.headers),
  };
}

function wordOf(word: string | undefined): Meaning | undefined {
  return word !== undefined && Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** A 500 in that API's own words ends a synchronous request: nothing more will come of it. From a proxy it ends nothing. */
function meaningOf(status: number, type: string | undefined): Meaning {
  return status === 500 && type !== undefined ? "broken" : meaningOfStatus(status);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
