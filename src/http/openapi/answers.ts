import { ERROR_CODES, type ErrorCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Endpoint } from "../exchange.ts";
import { SPOKEN } from "../facades/spoken.ts";
import { type Envelope, envelopeFor, STATUS } from "../problem.ts";
import { COMPATIBLE_ERROR, ERROR_MEANINGS, STANDARD_ERROR } from "../wire/errors.ts";
import type { Schema } from "../wire/schema.ts";
import { type Components, referenceTo } from "./components.ts";
import type { Answer } from "./contract.ts";
import type { HeaderName } from "./headers.ts";

/** `responses` of an endpoint: its own answers, and its errors by status. */
export function responsesOf(endpoint: Endpoint, components: Components): JsonObject {
  const { contract, path } = endpoint;
  const byStatus = new Map<number, JsonObject>();
  const allCodes = errorCodesOf(endpoint);
  for (const [status, codes] of Map.groupBy(allCodes, (code) => statusOf(path, code))) {
    byStatus.set(status, errorResponse(path, codes, components));
  }
  const isCounted = endpoint.access === "api_key" && endpoint.isCounted === true;
  const more = isCounted ? (["RateLimit", "RateLimit-Policy"] as const) : [];
  for (const [status, answer] of Object.entries(contract.answers)) {
    byStatus.set(Number(status), answerResponse(answer, more, components));
  }
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b));
}

/** A facade may use another status for a code. */
function statusOf(path: string, code: ErrorCode): number {
  const envelope = envelopeFor(path, code);
  return (typeof envelope === "object" ? envelope.statuses?.[code] : undefined) ?? STATUS[code];
}

/** The codes with which an endpoint answers: those it names, and those that follow from its credential, body and idempotency. */
function errorCodesOf({ contract, ...endpoint }: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>(["internal_error", ...(contract.errors ?? [])]);
  const add = (isSo: boolean, ...more: ErrorCode[]) => {
    if (isSo) for (const code of more) codes.add(code);
  };
  add(endpoint.isStreaming !== true, "upstream_timeout");
  add(endpoint.access !== "public", "invalid_api_key", "service_unavailable");
  if (endpoint.access === "api_key") {
    add(true, "wrong_node");
    add(endpoint.feature !== undefined, "permission_denied");
    add(endpoint.isCounted === true, "rate_limit_exceeded");
  }
  add(endpoint.access === "management" && endpoint.scope !== undefined, "permission_denied");
  add(endpoint.access !== "public" && endpoint.isStreaming === true, "rate_limit_exceeded");
  add(contract.body !== undefined, "invalid_request", "request_too_large", "unsupported_media_type");
  add(
    contract.isIdempotent === true,
    ...(["invalid_idempotency_key", "idempotency_conflict"] as const),
    ...(["idempotency_in_progress", "idempotency_unavailable"] as const),
    "loop_detected",
  );
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** Adds the errors that any path can return and that no contract lists. */
export function addGeneralErrors(components: Components): void {
  for (const path of ["/", "/compat/", ...SPOKEN.map(({ base }) => base)]) {
    for (const code of ["not_found", "method_not_allowed"] as const) errorResponse(path, [code], components);
  }
}

const ERROR_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  409: ["Retry-After", "x-should-retry"],
  429: ["Retry-After", "retry-after-ms", "RateLimit", "RateLimit-Policy"],
  500: ["x-should-retry"],
  503: ["Retry-After", "x-should-retry"],
  504: ["X-Task-Id", "x-should-retry"],
  508: ["X-Task-Id", "x-should-retry"],
};

function errorResponse(path: string, codes: readonly ErrorCode[], components: Components): JsonObject {
  // All codes of one status share an envelope. Only 401 differs from the rest of its path.
  const [first = "internal_error"] = codes;
  const envelope = envelopeFor(path, first);
  const name = prefixOf(envelope, first) + codes.map(pascal).join("Or");
  return components.response(name, () => ({
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join("\n\n"),
    headers: headersOf(ERROR_HEADERS[STATUS[first]] ?? []),
    content: {
      "application/json": {
        schema: components.refer(schemaOf(envelope)),
      },
    },
    "x-error-codes": codes,
  }));
}

/** A suffix that distinguishes the names of the same errors in several envelopes. */
function prefixOf(envelope: Envelope, code: ErrorCode): string {
  if (typeof envelope === "object") return pascal(envelope.name.replaceAll("-", "_"));
  return envelope === "compatible" && code !== "invalid_api_key" ? "Compatible" : "";
}

function schemaOf(envelope: Envelope): Schema {
  if (typeof envelope === "object") return envelope.schema;
  return envelope === "compatible" ? COMPATIBLE_ERROR : STANDARD_ERROR;
}

function answerResponse(answer: Answer, more: readonly HeaderName[], components: Components): JsonObject {
  const content: Record<string, JsonObject> = {};
  for (const [type, schema] of Object.entries(answer.content ?? {})) {
    content[type] = Object.keys(schema).length === 0 ? {} : { schema: components.refer(schema) };
  }
  if (answer.events !== undefined) content["text/event-stream"] = streamOf(answer.events, components);
  return {
    description: answer.description,
    headers: headersOf([...(answer.headers ?? []), ...more]),
    content: Object.keys(content).length === 0 ? undefined : content,
  };
}

/** OpenAPI 3.1 describes a stream as text. An extension describes the events. */
function streamOf(events: NonNullable<Answer["events"]>, components: Components): JsonObject {
  const names = Object.keys(events).map((name) => `\`${name}\``);
  return {
    schema: {
      type: "string",
      description: `Server-sent events ${names.join(", ")}; the data of each is JSON. Comments keep the connection alive.`,
    },
    "x-events": Object.fromEntries(
      Object.entries(events).map(([name, schema]) => [name, components.refer(schema)]),
    ),
  };
}

function headersOf(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(
    (["X-Request-ID", ...names] as const).map((name) => [name, referenceTo("headers", name)]),
  );
}

function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
