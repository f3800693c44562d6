import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { dataOf, notThisService, parseBody, troubleOf, unreachable } from "./answer.ts";
import type { Attempt, RetryOptions } from "./retry.ts";
import type { Part } from "./transfer.ts";
import { wayTo } from "./way.ts";

/** Time for the answer to a request that does not wait on the server. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Bytes in a millisecond: the server closes slower uploads. */
const SLOWEST_UPLOAD = 16;

export interface ClientOptions extends RetryOptions {
  readonly userAgent: string;
  /** Receives a line about each exchange. */
  readonly onExchange?: ((line: string) => void) | undefined;
  /** Called if a server answers as if it did not know the request, because it may have another version. */
  readonly onUnknown?: ((server: string) => Promise<void>) | undefined;
}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject | undefined;
  /** A file in place of a body. */
  readonly content?: Uint8Array<ArrayBuffer> | undefined;
  readonly idempotencyKey?: string;
  readonly waitMs?: number | undefined;
  /** How long the answer may take in addition to that wait. */
  readonly answerWithinMs?: number | undefined;
}

/** Sends one request once. */
export async function exchange(
  { server, key }: ClientSettings,
  options: ClientOptions,
  { method, path, body, content, idempotencyKey, waitMs = 0, answerWithinMs = REQUEST_TIMEOUT_MS }: Call,
): Promise<Attempt<{ readonly data: JsonObject; readonly headers: Headers }>> {
  const startedAt = options.timing.now();
  const text = body === undefined ? null : JSON.stringify(body);
  const uploadMs = (content?.length ?? text?.length ?? 0) / SLOWEST_UPLOAD;
  let response: Response;
  let answer: unknown;
  try {
    response = await send(server + path, options, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(content === undefined ? {} : { "Content-Type": "application/octet-stream" }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      body: content ?? text,
      signal: AbortSignal.timeout(Math.ceil(answerWithinMs + waitMs + uploadMs)),
    });
    answer = parseBody(await response.text());
  } catch (error) {
    return { ok: false, ...unreachable(error, server) };
  }
  const { status, headers } = response;
  const ms = Math.round(options.timing.now() - startedAt);
  options.onExchange?.(`${method} ${path} ${status} ${ms} ms ${headers.get("x-request-id") ?? "-"}`);
  if (isUnknown(status, answer)) await options.onUnknown?.(server);
  if (status !== 200) return { ok: false, ...troubleOf(response, answer, server) };
  return { ok: true, value: { data: dataOf(response, answer, server), headers } };
}

/** Whether the server does not know the path or its form. A missing record has other words. */
function isUnknown(status: number, answer: unknown): boolean {
  if (status === 200) return !isJsonObject(answer) || !isJsonObject(answer.data);
  if (status !== 404 && status !== 405) return false;
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return ["not_found", "method_not_allowed", undefined].some((code) => code === data.error_code);
}

/** Opens a stream of server-sent events once. */
export async function openEvents(
  { server, key }: ClientSettings,
  options: ClientOptions,
  { path, lastEventId, signal }: { path: string; lastEventId: string | undefined; signal: AbortSignal },
): Promise<Attempt<ReadableStream<Uint8Array>>> {
  try {
    const response = await send(server + path, options, {
      headers: {
        Authorization: `Bearer ${key}`,
        Accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
      },
      signal,
    });
    const { status, headers, body } = response;
    options.onExchange?.(`GET ${path} ${status} ${headers.get("x-request-id") ?? "-"}`);
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (status === 200 && isStream && body !== null) return { ok: true, value: body };
    const answer = parseBody(await response.text());
    if (status !== 200) return { ok: false, ...troubleOf(response, answer, server) };
    return { ok: false, failure: notThisService(server), retry: "no" };
  } catch (error) {
    return { ok: false, ...unreachable(error, server) };
  }
}

/** Requests a result's file once, or the rest of one, without any credential, wherever the server leads: to its bucket, say. */
export async function fetchFile(
  url: string,
  options: ClientOptions,
  { from, etag, signal }: Partial<Part> = {},
): Promise<Attempt<Response>> {
  const origin = URL.parse(url)?.origin ?? url;
  // Without a version to compare, the rest might belong to another file.
  const isRest = from !== undefined && from > 0 && etag !== undefined;
  const answers = createTimeLimit(REQUEST_TIMEOUT_MS);
  try {
    const response = await send(url, options, {
      headers: {
        // The bytes of the file itself, which ranges and its hash are about.
        "Accept-Encoding": "identity",
        ...(isRest ? { Range: `bytes=${from}-`, "If-Range": etag } : {}),
      },
      signal: signal === undefined ? answers.signal : AbortSignal.any([answers.signal, signal]),
      redirect: "follow",
    });
    options.onExchange?.(`GET ${url} ${response.status}`);
    if (response.status === 200 || (isRest && response.status === 206)) return { ok: true, value: response };
    const { failure, ...trouble } = troubleOf(response, parseBody(await response.text()), origin);
    const code = failure.exitCode === EXIT.auth ? EXIT.error : failure.exitCode;
    const told = new Failure(code, failure.code, `${url}: ${failure.message}`, { more: failure.more });
    return { ok: false, ...trouble, failure: told };
  } catch (error) {
    return { ok: false, ...unreachable(error, origin) };
  } finally {
    // Reading the file may take longer.
    answers.lift();
  }
}

function createTimeLimit(ms: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DOMException("late", "TimeoutError")), ms);
  return { signal: controller.signal, lift: () => clearTimeout(timer) };
}

/** Follows no redirect unless told to: another server must not get the key. */
function send(
  url: string,
  { userAgent, signal }: ClientOptions,
  init: Pick<RequestInit, "method" | "body" | "redirect"> & {
    headers?: Record<string, string>;
    signal: AbortSignal;
  },
): Promise<Response> {
  return fetch(url, {
    redirect: "manual",
    ...wayTo(url),
    ...init,
    headers: { ...init.headers, "User-Agent": userAgent },
    signal: AbortSignal.any([signal, init.signal]),
  });
}
