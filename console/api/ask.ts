import { connection, ROOT } from "./connection.ts";
import { once } from "./once.ts";
import { ApiProblem, unreachable } from "./problem.ts";
import type { Operations } from "./published.d.ts";
import { comeBack } from "./session.ts";

/** An endpoint as the service's description names it: `GET /v1/tasks`. */
export type OperationName = keyof Operations;
export type DataOf<Name extends OperationName> = Operations[Name]["data"];

/** What an endpoint takes: `path`, `query` and `body`, each where it has one. */
export type Input<Name extends OperationName> = Omit<Operations[Name], "data">;

interface Options {
  readonly signal?: AbortSignal | undefined;
  /** Makes it safe to send a create again. */
  readonly idempotencyKey?: string | undefined;
}

/** Pauses before a read is tried again, in milliseconds. */
const READ_AGAIN_MS = [400, 1_000, 2_500];

/**
 * Asks the service, as whoever is signed in. Reads are tried again where no answer comes. Where the session has ended, waits until
 * the reader has come in again and then asks anew, so that nothing typed is lost.
 *
 * @returns the data of the answer @throws ApiProblem
 */
export async function ask<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: Options = {},
): Promise<DataOf<Name>> {
  const [method = "GET", path = ""] = name.split(" ", 2);
  const { path: parts = {}, query = {}, body } = input as Given;
  const url = new URL(filled(path, parts).slice(1), ROOT);
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== "") url.searchParams.set(key, String(value));
  const request: RequestInit = { method, signal: options.signal ?? null, headers: headersOf(body, options) };
  if (body !== undefined) request.body = JSON.stringify(body);
  const response = await answered(url, request);
  const answer: unknown = await response.json().catch((error: unknown) => {
    throw unreachable(error);
  });
  return dataOf(answer) as DataOf<Name>;
}

interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** An answer of the service that is no error. @throws ApiProblem */
export async function answered(url: URL, request: RequestInit): Promise<Response> {
  for (let isAgain = false; ; isAgain = true) {
    const answer = await sent(url, request);
    if (!(answer instanceof ApiProblem)) return answer;
    if (answer.status !== 401 || isAgain) throw answer;
    await comeBack(answer, request.signal);
  }
}

async function sent(url: URL, request: RequestInit): Promise<Response | ApiProblem> {
  const pauses = request.method === "GET" ? READ_AGAIN_MS : [];
  for (let tries = 0; ; tries += 1) {
    const answer = await once(url, request);
    if (!(answer instanceof ApiProblem) || answer.code !== "unreachable") return answer;
    const pauseMs = pauses[tries];
    if (pauseMs === undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Pauses before what had no answer is sent again, in milliseconds; the last one from then on. */
const SEND_AGAIN_MS = [1_000, 2_000, 4_000];
const UNANSWERED = ["unreachable", "idempotency_in_progress", "idempotency_unavailable"];

/**
 * Sends what has an idempotency key until the service has answered: it makes one thing however often it is sent.
 *
 * @param onSilence the service does not answer yet @throws ApiProblem that trying again would not change
 */
export async function untilAnswered<Answer>(
  send: () => Promise<Answer>,
  onSilence: () => void,
): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      const isUnanswered =
        error instanceof ApiProblem &&
        (UNANSWERED.includes(error.code) || (error.status === 503 && error.code === "service_unavailable"));
      if (!isUnanswered) throw error;
      onSilence();
      const pauseMs = SEND_AGAIN_MS[Math.min(tries, SEND_AGAIN_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Uploads a file, which goes after a day. @returns its address, for a field of a create @throws ApiProblem */
export async function upload(file: Blob, idempotencyKey: string): Promise<string> {
  const response = await answered(new URL("v1/files", ROOT), {
    method: "POST",
    body: file,
    headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": idempotencyKey },
  });
  const answer: unknown = await response.json().catch((error: unknown) => {
    throw unreachable(error);
  });
  // The answer is of this form, as the published document says.
  return (dataOf(answer) as DataOf<"POST /v1/files">).url;
}

/** A key of one's own for a create: with it, the service makes one thing however often it is asked. */
export function newIdempotencyKey(): string {
  // Without TLS, browsers offer no UUIDs.
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

function headersOf(body: unknown, { idempotencyKey }: Options): Record<string, string> {
  return {
    Accept: "application/json",
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  };
}

/** `/v1/tasks/{task_id}` with its parts. */
export function filled(path: string, parts: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? ""));
}

function dataOf(answer: unknown): unknown {
  const isEnveloped = typeof answer === "object" && answer !== null && "data" in answer && "code" in answer;
  return isEnveloped ? answer.data : answer;
}

/** Whether the reader has left what asked, or the service is not there: nothing is wrong with what was asked. */
export function isPassing(error: unknown): boolean {
  const isLeft = error instanceof DOMException && error.name === "AbortError";
  return (
    isLeft || (error instanceof ApiProblem && error.code === "unreachable" && connection.peek() === "lost")
  );
}
