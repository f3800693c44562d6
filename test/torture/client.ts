import type { JsonObject } from "../../src/domain/json.ts";
import { isJsonObject } from "../../src/domain/json.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** `{}` when the body is no JSON object. */
  readonly body: JsonObject;
  /** `data` of the body; `{}` when it has none. */
  readonly data: JsonObject;
}

const ANSWER_WITHIN_MS = 40_000;

/**
 * One request on a connection of its own: a pooled one that the killed server had closed could be retried by the HTTP client
 * itself, and a create would be sent twice.
 *
 * @returns undefined when there was no whole answer
 */
export async function send(
  origin: string,
  request: {
    path: string;
    key: string;
    body?: JsonObject;
    headers?: Readonly<Record<string, string>>;
    method?: "GET" | "POST";
    /** Hangs up after so long. */
    withinMs?: number | undefined;
  },
): Promise<Answer | undefined> {
  const { path, key, body } = request;
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...request.headers };
  try {
    const response = await fetch(origin + path, {
      method: request.method ?? (body === undefined ? "GET" : "POST"),
      headers,
      keepalive: false,
      signal: AbortSignal.timeout(request.withinMs ?? ANSWER_WITHIN_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed: unknown = JSON.parse((await response.text()) || "{}");
    const object = isJsonObject(parsed) ? parsed : {};
    const data = isJsonObject(object.data) ? object.data : {};
    return { status: response.status, headers: response.headers, body: object, data };
  } catch {
    // Refused, reset, cut off or timed out: all the same to a client that must find out later what became of it.
    return undefined;
  }
}
