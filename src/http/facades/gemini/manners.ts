import type { AppError } from "../../../domain/errors.ts";
import type { ProviderId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { closed, component, integer, list, openEnum, type Schema, text } from "../../wire/schema.ts";
import type { Manners } from "../manners.ts";

/** Where the paths of that API begin here. */
export const BASE = "/gemini";
/** Our provider with that API. */
// A provider's id is its folder's name, and this is one of them.
export const PROVIDER = "gemini" as ProviderId;
/** The version that its clients use; others stand for it. */
export const V1BETA = `${BASE}/v1beta`;

/** Words of `google.rpc.Code` by HTTP status (https://cloud.google.com/apis/design/errors, checked 2026-11-27). */
const WORDS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  // Its clients know no other word for a balance that does not suffice.
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  409: "ABORTED",
  413: "INVALID_ARGUMENT",
  415: "INVALID_ARGUMENT",
  421: "UNAVAILABLE",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  508: "FAILED_PRECONDITION",
};

/** Of what a task's state forbids. For a 409, that API's clients would send the request again. */
const OVER = 400;
const STATUSES = { task_not_cancellable: OVER, task_not_deletable: OVER } as const;
/** What that API's clients expect if a key is refused. */
const REASONS: Readonly<Record<string, string>> = { invalid_api_key: "API_KEY_INVALID" };

const type = (name: string) => `type.googleapis.com/google.rpc.${name}`;

const isOver = ({ code }: AppError) => Object.hasOwn(STATUSES, code);

/** An error in the words of that API (docs/facades.md). */
export function tellError(error: AppError, ours: number): JsonObject {
  const status = isOver(error) ? OVER : ours;
  const word = isOver(error) ? "FAILED_PRECONDITION" : (WORDS[status] ?? "UNKNOWN");
  return { error: { code: status, message: error.message, status: word, details: detailsOf(error) } };
}

function detailsOf({ code, message, param, details }: AppError): Json[] {
  const { retryAfterSec, taskId } = details;
  const reason = REASONS[code] ?? code.toUpperCase();
  const metadata = { code, ...(taskId !== undefined && { task: taskId }) };
  return [
    { "@type": type("ErrorInfo"), reason, domain: "svc", metadata },
    ...(param === undefined || code !== "invalid_request"
      ? []
      : [{ "@type": type("BadRequest"), fieldViolations: [{ field: param, description: message }] }]),
    ...(code === "insufficient_quota"
      ? [{ "@type": type("QuotaFailure"), violations: [{ subject: "balance", description: message }] }]
      : []),
    ...(retryAfterSec === undefined ? [] : [{ "@type": type("RetryInfo"), retryDelay: `${retryAfterSec}s` }]),
  ];
}

/** The part of an error for programs, with the fields of its type. */
export const DETAILS: Schema = list(
  closed(
    {
      "@type": text(
        "`ErrorInfo`, `BadRequest`, `QuotaFailure` or `RetryInfo`, after `type.googleapis.com/google.rpc.`.",
      ),
      reason: text("The code that this service has, in capitals."),
      domain: text("", { const: "svc" }),
      metadata: closed(
        { code: text("The code that this service has."), task: text("Id of the task.") },
        { optional: ["task"] },
      ),
      fieldViolations: list(
        closed({
          field: text("Path of the field at fault, as the caller has it."),
          description: text("What is wrong."),
        }),
      ),
      violations: list(
        closed({ subject: text("What does not suffice."), description: text("The same, for people.") }),
      ),
      retryDelay: text("After which to send the request again: `2s`."),
    },
    { optional: ["reason", "domain", "metadata", "fieldViolations", "violations", "retryDelay"] },
  ),
);

const ERROR: Schema = component("GeminiError", {
  error: closed({
    code: integer("The HTTP status."),
    message: text("For people and logs, not for control flow: it may change."),
    status: openEnum([...new Set(Object.values(WORDS))], "The class of the error."),
    details: DETAILS,
  }),
});

export const GEMINI: Manners = {
  name: "gemini",
  base: BASE,
  schemes: [],
  sameAs: [
    // The enterprise edition of the API names the models' publisher.
    [/^\/gemini\/v1(?:beta1?|alpha)?\/publishers\/[^/]+(?=\/)/, V1BETA],
    // A client puts the whole address of a film in the place of its file's name, where that does not begin with https.
    [/^\/gemini\/v1(?:beta1?|alpha)?\/files\/https?:\/.*\/files(?=\/[^/]+$)/, `${V1BETA}/files`],
    [/^\/gemini\/v1(?:beta1|alpha)?(?=\/)/, V1BETA],
    [/^\/gemini\/upload\/v1(?:alpha)?(?=\/)/, `${BASE}/upload/v1beta`],
  ],
  statuses: STATUSES,
  tell: (error, status) => ({ ...(isOver(error) && { status: OVER }), body: tellError(error, status) }),
  schema: ERROR,
};
