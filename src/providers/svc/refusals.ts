import { TASK_ERROR_CODES, type TaskErrorCode } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { PollResult } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfStatus, meaningOfWord, refusalOf } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { textIn } from "../kit/said.ts";
import { vetted } from "../kit/scrub.ts";

/** Codes that mean more than their status does (docs/api.md 3.3). */
const WORDS: Readonly<Record<string, Meaning>> = {
  content_policy_violation: "moderated",
  insufficient_quota: "spent",
  model_not_available: "refused",
  model_not_found: "refused",
  not_found: "refused",
  method_not_allowed: "refused",
  loop_detected: "looped",
  // A create that was not answered may have been taken. It is sent again with its key.
  idempotency_conflict: "unclear",
  idempotency_in_progress: "unclear",
  internal_error: "unclear",
};

/** What an error answer says, in either envelope (docs/api.md 3.2). */
export interface SvcError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly param: string | undefined;
}

export function readError({ json }: Pick<UpstreamAnswer, "json">): SvcError {
  const body = isJsonObject(json) ? json : {};
  const [data, error] = [body.data, body.error].map((each): JsonObject => (isJsonObject(each) ? each : {}));
  return {
    code: textIn(data?.error_code) ?? textIn(error?.code),
    message: textIn(body.message) ?? textIn(error?.message),
    param: textIn(data?.param) ?? textIn(error?.param),
  };
}

/** A create, or a question, that was refused. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const { code, message } = readError(answer);
  const meaning = meaningOfWord(WORDS, code) ?? meaningOfStatus(answer.status);
  return refusalOf(upstream, answer, meaning, { word: code, message });
}

/** Nobody would make such a request, so no other way is tried. */
const FINAL: ReadonlySet<TaskErrorCode> = new Set([
  "CONTENT_MODERATED",
  "UPSTREAM_REJECTED",
  "INPUT_INVALID",
  "INPUT_UNREACHABLE",
]);

/** The end of a task that failed there, which costs nothing. It keeps its code. */
export function failedTask({ scrub, name }: Upstream, data: JsonObject): PollResult {
  const known = TASK_ERROR_CODES.find((each) => each === data.error_code);
  const code = known ?? "UPSTREAM_ERROR";
  const said = scrub(textIn(data.error_message) ?? textIn(data.error) ?? "");
  const message = FINAL.has(code) ? vetted(said) : undefined;
  return {
    kind: "failed",
    code,
    detail: `${name}: the task failed as ${wordOf(data.error_code)}${said === "" ? "" : `: "${said}"`}`,
    ...(message !== undefined && { message }),
    ...(!FINAL.has(code) && { mayReroute: true }),
  };
}

function wordOf(code: Json | undefined): string {
  return typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : "something unknown";
}
