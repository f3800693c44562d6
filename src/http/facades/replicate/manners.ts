import { type AppError, ERROR_CODES, type ErrorCode } from "../../../domain/errors.ts";
import { component, integer, list, openEnum, type Schema, text } from "../../wire/schema.ts";
import type { Manners, ToldError } from "../manners.ts";

export const BASE = "/replicate/v1";

/** What stands before the names of a model's inputs in messages. */
export const INPUT = "input.";

/** The `title` of each code, in that API's words. */
const TITLES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_api_key: "Unauthenticated",
  insufficient_quota: "Insufficient credit",
  permission_denied: "Permission denied",
  rate_limit_exceeded: "Request was throttled",
  model_not_available: "Not found",
  model_not_found: "Not found",
  task_not_found: "Not found",
  not_found: "Not found",
  method_not_allowed: "Method not allowed",
  request_too_large: "Content too large",
  unsupported_media_type: "Unsupported media type",
  content_policy_violation: "Content policy violation",
  idempotency_conflict: "Conflict",
  idempotency_in_progress: "Conflict",
  internal_error: "Internal server error",
};

/** That API's status for what cannot be processed as it is. */
const UNPROCESSABLE = 422;

const GONE = "The requested resource could not be found.";

const ERROR: Schema = component(
  "ReplicateError",
  {
    title: text("What kind of error it is."),
    detail: text("For people, safe to show."),
    status: integer("The HTTP status.", { minimum: 400 }),
    code: openEnum(ERROR_CODES, "This service's own code for it, beside what that API tells."),
    invalid_fields: list(
      component("ReplicateInvalidField", {
        type: text(
          "What is wrong with it: `required`, `additional_property_not_allowed` or `invalid_value`.",
        ),
        field: text("Its path in the body: `input.seed`."),
        description: text("The same as `detail`."),
      }),
      { description: "The field at fault, where one is." },
    ),
    retry_after: integer("Seconds to wait before the next try.", { minimum: 0 }),
  },
  { optional: ["invalid_fields", "retry_after"] },
);

/** Where that API has another status than this service. */
const STATUSES = { invalid_request: UNPROCESSABLE, content_policy_violation: UNPROCESSABLE } as const;

/** How Replicate tells errors: as problems of RFC 9457, without a type (its openapi.json of 2026-04-09). */
export const REPLICATE_MANNERS: Manners = {
  name: "replicate",
  base: BASE,
  // Older clients of that API send it so.
  schemes: ["token"],
  statuses: STATUSES,
  tell,
  schema: ERROR,
};

function tell(error: AppError, known: number): ToldError {
  const { code, param, message, facts, details } = error;
  const status = new Map<string, number>(Object.entries(STATUSES)).get(code) ?? known;
  const isListed = status === UNPROCESSABLE && param !== undefined;
  const body = {
    title: titleOf(error, status),
    detail: ownWords(error) ?? (isListed ? `- ${message}\n` : message),
    status,
    code,
    ...(isListed && { invalid_fields: [{ type: typeOf(facts.kind), field: param, description: message }] }),
    ...(details.retryAfterSec !== undefined && { retry_after: details.retryAfterSec }),
  };
  return { status, body };
}

/** What is not there is refused in that API's words, which programs compare. */
function ownWords({ code, facts }: AppError): string | undefined {
  if (facts.kind === "method_not_allowed") return `Method "${facts.method}" not allowed.`;
  const isGone = code === "task_not_found" || facts.kind === "file_unknown" || facts.kind === "unknown_path";
  return isGone ? GONE : undefined;
}

/** What is wrong with a field; the first two are that API's words. */
function typeOf(kind: AppError["facts"]["kind"]): string {
  if (kind === "required") return "required";
  return kind === "unknown_field" ? "additional_property_not_allowed" : "invalid_value";
}

function titleOf({ code, param, facts }: AppError, status: number): string {
  if (facts.kind === "version_unknown") return "Invalid version or not permitted";
  if (code === "invalid_request")
    return param === undefined ? "Unprocessable request" : "Input validation failed";
  return TITLES[code] ?? (status < 500 ? "Bad request" : "Service unavailable");
}
