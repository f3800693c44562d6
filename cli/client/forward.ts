import { parseWebUrl } from "../environment.ts";
import { usage } from "../failure.ts";
import { firstLine, printable } from "../format/printable.ts";
import type { Style } from "../format/style.ts";
import { formatDuration } from "../format/units.ts";
import { clauseOf } from "./answer.ts";
import type { Client } from "./client.ts";

/** What is posted. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of forwarding a callback. */
export interface Forwarded {
  /** Null when nobody answered. */
  readonly status: number | null;
  readonly statusText: string;
  readonly durationMs: number;
  /** Why nobody answered. */
  readonly error: string | null;
}

export interface ForwardOptions {
  readonly url: string;
  /** Milliseconds on a clock that never jumps. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

/** How long a receiver may take to answer, as long as the server gives it. */
const TIMEOUT_MS = 10_000;

/** The runtime's codes for answers it cannot read. */
const NOT_HTTP = /^(Malformed|Invalid|Unrequested|ResponseHeaders|HTTP)/;

/** Longest status text of a receiver, in characters. */
const MAX_STATUS_TEXT = 80;

/** Most posts that run at once. */
export const FORWARDS_AT_ONCE = 4;

/** Posts a callback unchanged to an address of this machine or its network. Never rejects, because a failure is an outcome too. */
export function createForwarder(
  client: Pick<Client, "post">,
  { url, now, signal, timeoutMs = TIMEOUT_MS }: ForwardOptions,
): (post: Post) => Promise<Forwarded> {
  return async (post) => {
    const startedAt = now();
    const timeout = AbortSignal.timeout(timeoutMs);
    const elapsed = () => Math.round(now() - startedAt);
    try {
      const answer = await client.post(url, { ...post, signal: AbortSignal.any([signal, timeout]) });
      return { ...answer, durationMs: elapsed(), error: null };
    } catch (error) {
      const reason = timeout.aborted ? `no answer within ${formatDuration(timeoutMs)}` : reasonOf(error);
      return { status: null, statusText: "", durationMs: elapsed(), error: reason };
    }
  };
}

/** Where callbacks are forwarded to; `localhost:3000/hook` means http. @throws Failure */
export function readForwardUrl(text: string): string {
  const url = parseWebUrl(text);
  if (url === null) {
    throw usage(
      `--forward must be an address such as http://localhost:3000/hook, got "${text.slice(0, 80)}".`,
    );
  }
  url.hash = "";
  return url.href;
}

export function isAcknowledged({ status }: Forwarded): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** `200 OK (12 ms)`, or why there was no answer. */
export function forwardedText(forwarded: Forwarded, style: Style): string {
  const { status, statusText, durationMs, error } = forwarded;
  if (status === null) return style.red(printable(error ?? "no answer"));
  const text = `${status} ${firstLine(statusText, MAX_STATUS_TEXT)}`.trimEnd();
  return `${(isAcknowledged(forwarded) ? style.green : style.red)(text)} (${formatDuration(durationMs)})`;
}

/** The outcome as printed under --json. */
export function forwardedForm({ status, durationMs, error }: Forwarded) {
  return { status, duration_ms: durationMs, error };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/ConnectionRefused|ECONNREFUSED/.test(code)) return "connection refused";
  if (/ECONNRESET|ConnectionClosed/.test(code)) return "the connection was closed without an answer";
  if (NOT_HTTP.test(code)) return `an answer that is not HTTP as it should be (${code})`;
  return clauseOf(error) || "no answer";
}
