import { isJsonObject } from "../../domain/json.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfStatus, meaningOfWord, refusalOf, type Said } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { textIn } from "../kit/said.ts";

/**
 * The queue's words for what went wrong: `error_type` of its own errors, `type` of a model's
 * (https://docs.fal.ai/model-endpoints/errors, 2026-11).
 */
const WORDS: Readonly<Record<string, Meaning>> = {
  content_policy_violation: "moderated",
  request_timeout: "slow",
  startup_timeout: "slow",
  generation_timeout: "slow",
  runner_scheduling_failure: "busy",
  runner_connection_timeout: "broken",
  runner_connection_refused: "broken",
  runner_connection_error: "broken",
  runner_disconnected: "broken",
  runner_incomplete_response: "broken",
  runner_server_error: "broken",
  downstream_service_error: "broken",
  downstream_service_unavailable: "broken",
  internal_server_error: "broken",
  internal_error: "broken",
  no_media_generated: "broken",
  client_cancelled: "cancelled",
  client_disconnected: "broken",
  auth_error: "refused",
  not_found: "refused",
  url_error: "refused",
  bad_request: "bad_input",
};

/** What both of its error shapes come to: `{detail: "…", error_type}`, and `{detail: [{loc, msg, type}]}`. */
interface Complaint extends Said {
  /** A model's word on a field of its input. */
  readonly isOfInput: boolean;
}

function readComplaint({ json, headers }: UpstreamAnswer): Complaint {
  const body = isJsonObject(json) ? json : {};
  const header = headers.get("x-fal-error-type") ?? undefined;
  const [first] = Array.isArray(body.detail) ? body.detail : [];
  if (isJsonObject(first)) {
    const field = Array.isArray(first.loc) ? first.loc.filter((part) => part !== "body").join(".") : "";
    const message = textIn(first.msg);
    return {
      word: textIn(first.type) ?? header,
      message: field === "" || message === undefined ? message : `${field}: ${message}`,
      isOfInput: true,
    };
  }
  return {
    word: textIn(body.error_type) ?? header,
    message: textIn(body.detail) ?? textIn(body.error),
    isOfInput: false,
  };
}

/** Said with 403, in text alone (seen 2026). */
const NO_MONEY = /exhausted balance|user is locked|insufficient (?:funds|balance|credits?)/i;

/** A submission the queue did not take. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const { status } = answer;
  const complaint = readComplaint(answer);
  const { word, message } = complaint;
  const isBroke = (status === 403 || status === 402) && message !== undefined && NO_MONEY.test(message);
  const meaning = isBroke ? "spent" : submissionMeaning(status, word);
  return refusalOf(upstream, answer, meaning, complaint);
}

/** In an answer to a submission only what names the request itself is certain to be no accident on the way. */
function submissionMeaning(status: number, word: string | undefined): Meaning {
  const said = meaningOfWord(WORDS, word);
  return said === "moderated" || said === "bad_input" || said === "refused" ? said : meaningOfStatus(status);
}

/** How a job failed, from the answer that ends it; undefined when the answer does not say that it did. */
export function readFailure(upstream: Upstream, answer: UpstreamAnswer): Refusal | undefined {
  const complaint = readComplaint(answer);
  const meaning = failureMeaning(answer, complaint);
  return meaning && refusalOf(upstream, answer, meaning, complaint);
}

function failureMeaning({ status }: UpstreamAnswer, complaint: Complaint): Meaning | undefined {
  const { word, message, isOfInput } = complaint;
  // These words concern our key or our request rate, not the job.
  if (status === 401 || status === 403 || status === 429) return undefined;
  if (status === 499) return "cancelled";
  const said = meaningOfWord(WORDS, word);
  if (said !== undefined) return said;
  if (status >= 200 && status <= 299)
    return word === undefined && message === undefined ? undefined : "broken";
  // Every other word with a field is one of validation, of which models have many of their own.
  if (isOfInput) return status < 500 ? "bad_input" : "broken";
  return status === 422 ? "bad_input" : undefined;
}

/** The queue itself, not something before it, says that it has no such job. */
export function isUnknownJob({ status, json }: UpstreamAnswer): boolean {
  return status === 404 && isJsonObject(json) && (json.detail !== undefined || json.status === "NOT_FOUND");
}
