import type { JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { dataOf, parseBody, troubleOf, unreachable } from "./answer.ts";
import type { RetryOptions, Trouble } from "./retry.ts";

/** Timeout of a request that does not wait on purpose; includes uploads. */
const REQUEST_TIMEOUT_MS = 60_000;

export interface ClientOptions extends RetryOptions {
  readonly userAgent: string;
  /** Called with a line about every exchange. */
  readonly onExchange?: ((line: string) => void) | undefined;
}

export interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: JsonObject;
  readonly idempotencyKey?: string;
  readonly waitMs?: number;
}

export interface Answer {
  readonly data: JsonObject;
  readonly headers: Headers;
}

/** Sends one request once. */
export async function exchange(
  settings: ClientSettings,
  options: ClientOptions,
  request: Call,
): Promise<{ readonly ok: true; readonly value: Answer } | ({ readonly ok: false } & Trouble)> {
  const { server, key } = settings;
  const headers: Record<string, string> = {
    Authorization: `Bearer ${key}`,
    Accept: "application/json",
    "User-Agent": options.userAgent,
  };
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  if (request.idempotencyKey !== undefined) headers["Idempotency-Key"] = request.idempotencyKey;
  const timeoutMs = REQUEST_TIMEOUT_MS + (request.waitMs ?? 0);
  const startedAt = options.timing.now();
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(server + request.path, {
      method: request.method,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      // A key goes only to the server it was given for.
      redirect: "manual",
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]),
    });
    body = parseBody(await response.text());
  } catch (error) {
    return { ok: false, ...unreachable(error, server) };
  }
  const ms = Math.round(options.timing.now() - startedAt);
  const requestId = response.headers.get("x-request-id") ?? "-";
  options.onExchange?.(`${request.method} ${request.path} ${response.status} ${ms} ms ${requestId}`);
  if (response.status !== 200) return { ok: false, ...troubleOf(response, body, server) };
  const value: Answer = { data: dataOf(response, body, server), headers: response.headers };
  return { ok: true, value };
}
