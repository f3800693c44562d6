import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { clauseOf, unreachable } from "./answer.ts";
import { type ClientOptions, REQUEST_TIMEOUT_MS } from "./exchange.ts";
import type { Attempt } from "./retry.ts";
import { wayTo } from "./way.ts";

/** A synchronous call may be answered after five minutes. */
const SYNC_WAIT_MS = 300_000;

export interface RawRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined;
}

/** The whole of an answer. @throws Failure when it is cut off */
export function readRaw(response: Response, { origin }: URL): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw cutOff(error, origin);
  });
}

/** An answer as it comes. @throws Failure when it is cut off */
export async function* streamRaw(response: Response, { origin }: URL): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? [];
  } catch (error) {
    throw cutOff(error, origin);
  }
}

const CUT_OFF = "answer_cut_off";

const cutOff = (error: unknown, server: string): Failure =>
  new Failure(EXIT.unreachable, CUT_OFF, `${server} did not send the whole answer: ${clauseOf(error)}.`);

/** The failure of a request whose server may have done what it asks for. */
export const answerLost = ({ message }: Failure): Failure => new Failure(EXIT.unreachable, CUT_OFF, message);

export const isAnswerLost = (error: unknown): boolean => error instanceof Failure && error.code === CUT_OFF;

/**
 * Sends a request as it is, once, and follows no redirect: another server must not get the credential. The answer must begin in
 * time, and may then last.
 */
export async function sendRaw(
  { method, url, headers, body }: RawRequest,
  { userAgent, signal, timing, onExchange }: ClientOptions,
): Promise<Attempt<Response>> {
  headers.set("User-Agent", userAgent);
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException("It did not answer in time.", "TimeoutError")),
    patienceMs(url),
  );
  const startedAt = timing.now();
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      ...wayTo(url),
      signal: AbortSignal.any([signal, late.signal]),
    });
    const ms = Math.round(timing.now() - startedAt);
    onExchange?.(`${method} ${url.pathname} ${response.status} ${ms} ms`);
    return { ok: true, value: response };
  } catch (error) {
    return { ok: false, ...unreachable(error, url.origin) };
  } finally {
    clearTimeout(timer);
  }
}

function patienceMs({ pathname, searchParams }: URL): number {
  const waitMs = Number(searchParams.get("wait") ?? 0) * 1000 || 0;
  return REQUEST_TIMEOUT_MS + waitMs + (pathname.includes("/compat/") ? SYNC_WAIT_MS : 0);
}
