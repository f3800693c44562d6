import { ERROR_CODES, type ErrorCode, TASK_ERROR_CODES, TASK_ERROR_MESSAGES } from "../../domain/errors.ts";
import { TYPE } from "../problem.ts";
import { closed, component, integer, openEnum, type Schema, text } from "./schema.ts";

const MESSAGE = text("For people and logs, not for control flow: it may change.");
const TYPE_NAME = openEnum([...new Set(Object.values(TYPE))], "The class of the error.");
const PARAM = text("Path of the field at fault, `image_urls[2]`.");
const PARAM_IS_OPTIONAL = { optional: ["param"] };

/** The meaning of each code for a caller (docs/api.md 3.3). */
export const ERROR_MEANINGS = {
  invalid_request: "The request cannot be processed as it is.",
  invalid_api_key:
    "The credential is missing, malformed, unknown, revoked, expired or otherwise not eligible.",
  insufficient_quota: "Balance or quota do not suffice.",
  permission_denied: "The key may not use this model or feature, or the management token lacks the scope.",
  rate_limit_exceeded: "Too many requests, tasks at once, streams or calls that wait.",
  model_not_available:
    "There is no such model for this key, no provider makes it at present, or it makes something else.",
  model_not_found:
    "There is no such model for this key, no provider makes it at present, or it makes something else.",
  task_not_found: "The account has no such task of this kind.",
  not_found: "There is nothing of this name.",
  method_not_allowed: "The path takes other methods; `Allow` lists them.",
  wrong_node:
    "This node works for others and answers no callers; ask the address of the service. Nothing was done.",
  request_too_large: "The body is too large.",
  unsupported_media_type: "The body is of a type, charset or encoding that is not taken.",
  content_policy_violation: "The content policy of the service, or of the provider, refuses the request.",
  moderation_unavailable:
    "The service's check of the request's content cannot be made now; nothing was accepted. Send it again.",
  task_not_cancellable: "The task has ended.",
  task_not_retryable: "The task has not ended.",
  task_not_deletable: "The task has not ended.",
  invalid_idempotency_key:
    "`Idempotency-Key` is not 1 to 255 printable ASCII characters, or there are two that differ.",
  idempotency_conflict: "The `Idempotency-Key` was used with another body.",
  idempotency_in_progress: "The first request with the `Idempotency-Key` is not answered yet.",
  idempotency_unavailable: "Whether the `Idempotency-Key` was used cannot be told now; send it again.",
  sync_image_timeout: "The wait is over, the task goes on; the message names it.",
  upstream_timeout: "The answer took longer than this address allows, or a provider did not answer in time.",
  service_unavailable:
    "The service starts, stops or is overloaded, or no provider can run the model at present. `Retry-After` says when to send the request again; without it, that does not help.",
  disk_low:
    "The disk of the service is nearly full: it takes no new tasks until there is space again. What was accepted goes on.",
  loop_detected: "Too many instances of the service have passed the request on, probably in a circle.",
  internal_error: "The service or a provider failed.",
} as const satisfies Record<ErrorCode, string>;

/** Every machine code of an HTTP answer (docs/api.md 3.3). */
const CODE_MEANING = "Stable machine code. Later versions may add codes; fall back to the HTTP status.";
const ERROR_CODE: Schema = { title: "ErrorCode", ...openEnum(ERROR_CODES, CODE_MEANING) };

/** The standard envelope of docs/api.md 3.2. */
export const STANDARD_ERROR = component(
  "Error",
  {
    code: integer("The HTTP status."),
    message: MESSAGE,
    data: closed({ type: TYPE_NAME, error_code: ERROR_CODE, param: PARAM }, PARAM_IS_OPTIONAL),
  },
  { description: "Errors of media and account endpoints." },
);

/** The compatible envelope of docs/api.md 3.2. */
export const COMPATIBLE_ERROR = component(
  "CompatibleError",
  { error: closed({ message: MESSAGE, type: TYPE_NAME, code: ERROR_CODE, param: PARAM }, PARAM_IS_OPTIONAL) },
  { description: "Every 401, and everything below `/compat/v1`." },
);

/** Why an accepted task failed (docs/api.md 4.6). */
export const TASK_ERROR_CODE: Schema = {
  title: "TaskErrorCode",
  ...openEnum(
    TASK_ERROR_CODES,
    `Why an accepted task failed. Later versions may add codes.\n\n${TASK_ERROR_CODES.map((code) => `- \`${code}\`: ${TASK_ERROR_MESSAGES[code]}`).join("\n")}`,
  ),
};
