import type { AppError, ErrorCode, TaskErrorCode } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Schema } from "../../wire/schema.ts";
import type { Manners, ToldError } from "../manners.ts";
import { BASE, namedPath } from "./target.ts";

/** Types of that API for what is wrong with one field, by the kind of our facts; others are `value_error`. */
const FIELD_TYPE: Readonly<Record<string, string>> = {
  required: "missing",
  unknown_field: "extra_forbidden",
  not_json: "json_invalid",
  image_unused: "extra_forbidden",
  stored_file_unknown: "file_download_error",
  stored_file_gone: "file_download_error",
  other_media: "unsupported_file_format",
};

/** How that API reports a failed task: its status, and the type of its error. */
const TASK_ERROR: Readonly<Record<TaskErrorCode, readonly [status: number, type: string]>> = {
  CONTENT_MODERATED: [422, "content_policy_violation"],
  INPUT_INVALID: [422, "image_load_error"],
  INPUT_UNREACHABLE: [422, "file_download_error"],
  UPSTREAM_REJECTED: [400, "downstream_service_error"],
  UPSTREAM_CAPACITY_EXHAUSTED: [503, "downstream_service_unavailable"],
  UPSTREAM_TIMEOUT: [504, "generation_timeout"],
  UPSTREAM_ERROR: [500, "downstream_service_unavailable"],
  DEADLINE_EXCEEDED: [504, "generation_timeout"],
  FINALIZATION_FAILED: [500, "downstream_service_unavailable"],
  OUTCOME_UNKNOWN: [500, "internal_server_error"],
  LOOP_DETECTED: [508, "internal_server_error"],
  NO_ROUTE_AVAILABLE: [503, "downstream_service_unavailable"],
};

/** For a request that ends before a model sees it: its type, and its status if that differs from ours. */
const REQUEST_ERROR: Readonly<
  Partial<Record<ErrorCode, readonly [status: number | undefined, type: string]>>
> = {
  invalid_api_key: [undefined, "auth_error"],
  permission_denied: [undefined, "auth_error"],
  // There, an account without balance is locked.
  insufficient_quota: [403, "auth_error"],
  model_not_available: [undefined, "not_found"],
  model_not_found: [undefined, "not_found"],
  task_not_found: [undefined, "not_found"],
  not_found: [undefined, "not_found"],
  sync_image_timeout: [undefined, "request_timeout"],
  upstream_timeout: [undefined, "request_timeout"],
};

/** The documentation of that API for a type of error. */
const ABOUT = "https://docs.fal.ai/errors#";

interface Told extends ToldError {
  readonly body: JsonObject;
}

/** Errors as that API has them: of fields as a list, of everything else as a text. Its clients show `message`, where there is one. */
function tell(error: AppError, status: number): Told {
  const { code, facts } = error;
  if (facts.kind === "task_failed") {
    const [ofItsError, type] = TASK_ERROR[facts.error.code as TaskErrorCode];
    return ofTask(error, ofItsError, type);
  }
  if (facts.kind === "start_too_late") {
    const late = ofRequest(error, 504, "request_timeout");
    // This tells its clients that their own time ran out, so that they do not repeat the request.
    return { ...late, headers: { ...late.headers, "X-Fal-Request-Timeout-Type": "user" } };
  }
  if (facts.kind === "task_cancelled") return ofRequest(error, 499, "client_cancelled");
  if (code === "content_policy_violation") return ofTask(error, 422, "content_policy_violation");
  if (facts.kind === "model_path_long") return ofRequest(error, status, "url_error");
  if (code === "invalid_request") return ofFields(error);
  const [own = status, type] = REQUEST_ERROR[code] ?? [];
  return ofRequest(error, own, type ?? (status < 500 ? "bad_request" : "internal_error"));
}

function ofFields(error: AppError): Told {
  const { param, facts } = error;
  const given = givenIn(facts);
  const detail: JsonObject = {
    loc: param === undefined ? ["body"] : placeOf(param),
    msg: error.message,
    type: FIELD_TYPE[facts.kind] ?? "value_error",
    ...(given !== undefined && { input: given }),
  };
  return told(error, 422, [detail], String(detail.type));
}

/** What was given, where the facts have it and not only how much of it there is, or that it is a list. */
function givenIn(facts: AppError["facts"]): Json | undefined {
  if (!("given" in facts)) return undefined;
  if ("must" in facts && "many" in facts.must && facts.must.many !== "value") return undefined;
  const { given } = facts;
  if (typeof given !== "object" || given === null) return given;
  return "json" in given ? given.json : undefined;
}

function ofTask(error: AppError, status: number, type: string): Told {
  const loc = type === "content_policy_violation" ? ["body", "prompt"] : ["body"];
  return told(error, status, [{ loc, msg: error.message, type, url: ABOUT + type }], type);
}

function ofRequest(error: AppError, status: number, type: string): Told {
  const locked = error.code === "insufficient_quota" ? "User is locked. Reason: Exhausted balance. " : "";
  return told(error, status, locked + error.message, type);
}

function told(error: AppError, status: number, detail: Json, type: string): Told {
  const { taskId, shouldRetry } = error.details;
  return {
    status,
    headers: {
      "X-Fal-Error-Type": type,
      ...(taskId !== undefined && { "X-Fal-Request-Id": taskId }),
      ...(shouldRetry !== undefined && { "X-Fal-Retryable": String(shouldRetry) }),
    },
    body:
      typeof detail === "string"
        ? { detail, error_type: type, message: detail }
        : { detail, message: error.message },
  };
}

const OF_QUERY = ["fal_webhook", "logs"];

/** The location of a field in that API's form: `["body", "image_urls", 2]`. */
function placeOf(param: string): Json[] {
  if (param.toLowerCase().startsWith("x-fal-")) return ["header", param];
  if (OF_QUERY.includes(param)) return ["query", param];
  const parts = param.split(/[.[\]]+/).filter((part) => part !== "");
  return ["body", ...parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
}

const schema: Schema = {
  title: "FalError",
  type: "object",
  required: ["detail", "message"],
  properties: {
    detail: {
      anyOf: [
        { type: "string" },
        {
          type: "array",
          items: {
            type: "object",
            required: ["loc", "msg", "type"],
            properties: {
              loc: { type: "array", items: { type: ["string", "integer"] } },
              msg: { type: "string" },
              type: { type: "string" },
              url: { type: "string" },
              input: {},
            },
            additionalProperties: false,
          },
        },
      ],
      description: "What is wrong, or what is wrong with each field.",
    },
    error_type: { type: "string", description: "With a text alone." },
    message: { type: "string", description: "The same for people, which clients show." },
    error: {
      type: "object",
      required: ["message", "code"],
      properties: {
        message: { type: "string", description: "The same once more, for clients that read it here." },
        code: { type: "integer", description: "The HTTP status." },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

const statuses = { invalid_request: 422, content_policy_violation: 422, insufficient_quota: 403 };

export const FAL: Manners = {
  ...{ name: "fal", base: BASE, schemes: ["key"], pathOf: namedPath },
  ...{ tell: tellCaller, schema, statuses },
};

/** `@ai-sdk/fal` reads errors of videos from `error` alone, and else shows the words of the HTTP status. */
function tellCaller(error: AppError, known: number): ToldError {
  const { status = known, body, ...told } = tell(error, known);
  return { ...told, status, body: { ...body, error: { message: error.message, code: status } } };
}

/** An error as the queue and webhooks report it. */
export function toldError(error: AppError): {
  readonly status: number;
  readonly body: Json;
  readonly type: string;
} {
  const { status = 500, body, headers } = tell(error, 500);
  return { status, body, type: headers?.["X-Fal-Error-Type"] ?? "internal_error" };
}
