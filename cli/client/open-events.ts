import type { ClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { parseBody, troubleOf, unreachable } from "./answer.ts";
import type { ClientOptions } from "./exchange.ts";
import type { Trouble } from "./retry.ts";

/** An open stream, or why there is none. */
export type Opened =
  | { readonly ok: true; readonly value: ReadableStream<Uint8Array> }
  | ({ readonly ok: false } & Trouble);

/** Opens a stream of server-sent events; tried once. */
export async function openEvents(
  { server, key }: ClientSettings,
  options: ClientOptions,
  { path, lastEventId, signal }: { path: string; lastEventId: string | undefined; signal: AbortSignal },
): Promise<Opened> {
  const headers: Record<string, string> = {
    Authorization: `Bearer ${key}`,
    Accept: "text/event-stream",
    "User-Agent": options.userAgent,
  };
  if (lastEventId !== undefined) headers["Last-Event-ID"] = lastEventId;
  try {
    const response = await fetch(server + path, {
      headers,
      redirect: "manual",
      signal: AbortSignal.any([options.signal, signal]),
    });
    options.onExchange?.(`GET ${path} ${response.status} ${response.headers.get("x-request-id") ?? "-"}`);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (response.status === 200 && isStream && response.body !== null)
      return { ok: true, value: response.body };
    const body = parseBody(await response.text());
    if (response.status !== 200) return { ok: false, ...troubleOf(response, body, server) };
    throw notAStream(server);
  } catch (error) {
    if (error instanceof Failure) return { ok: false, failure: error, retry: "no" };
    return { ok: false, ...unreachable(error, server) };
  }
}

function notAStream(server: string): Failure {
  return new Failure(EXIT.error, "unexpected_answer", `${server} does not answer like an svc server.`, {
    hint: "Check --server or SVC_SERVER.",
  });
}
