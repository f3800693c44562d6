import type { JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { type CallbackPage, type CallbackView, callbackOf, callbackPageOf } from "../format/callback-view.ts";
import { dataOf, type Kind, type TaskView, taskOf, troubleOf, unreachable } from "./answer.ts";
import { type RetryOptions, type Trouble, withRetries } from "./retry.ts";

/** How long a request may take that does not wait on purpose; uploads are part of it. */
const REQUEST_TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;
/** Of an answer nobody needs: how much of it is read, and for how long. */
const MAX_DRAINED_BYTES = 64 * 1024;
const DRAIN_TIMEOUT_MS = 1_000;

export interface Created {
  readonly taskId: string;
  readonly requestId?: string | undefined;
  /** What was held, as the server says it. */
  readonly cost?: string | undefined;
  readonly replayed: boolean;
}

export interface TaskQuery {
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
  readonly model?: string | undefined;
  readonly limit?: string | undefined;
  readonly after?: string | undefined;
}

export interface CallbackQuery {
  readonly state?: string | undefined;
  readonly task_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit?: string | undefined;
  readonly after?: string | undefined;
}

/** An open stream, or why there is none. */
export type Opened =
  | { readonly ok: true; readonly value: ReadableStream<Uint8Array> }
  | ({ readonly ok: false } & Trouble);

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** The service's HTTP API, as any caller uses it. Every method throws a Failure when it is refused or nobody answers. */
export interface Client {
  readonly server: string;
  models(): Promise<JsonObject[]>;
  model(id: string): Promise<JsonObject>;
  create(kind: Kind, body: JsonObject, idempotencyKey: string): Promise<Created>;
  /** Answers at once, or as soon as the task has ended within `waitSec` (0-60). */
  status(kind: Kind, id: string, waitSec?: number): Promise<TaskView>;
  /** Finds out which kind the task is of, which its id does not say. */
  find(id: string): Promise<{ kind: Kind; task: TaskView }>;
  tasks(query: TaskQuery): Promise<{ tasks: TaskView[]; next: string | null }>;
  cancel(id: string): Promise<TaskView>;
  callbacks(query: CallbackQuery): Promise<CallbackPage>;
  /** With what it says and how each send went. */
  callback(id: string): Promise<CallbackView>;
  /** Asks for one more send. */
  redeliver(id: string): Promise<CallbackView>;
  /** Asks for one more send of each in a range of time, a page of them at a time. @returns those of this page */
  redeliverRange(range: CallbackQuery): Promise<CallbackPage>;
  /** What the key may do, and whose it is. */
  accountStatus(): Promise<JsonObject>;
  /** What is posted for this key's tasks, as server-sent events; tried once. */
  callbackEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<Opened>;
  /** POSTs to an address of the user's own, without any credential and without following it elsewhere; tried once. @throws when nobody answers */
  post(url: string, sent: Sent): Promise<{ readonly status: number; readonly statusText: string }>;
  /** A result's file, without any credential and without following it elsewhere. */
  fetchFile(url: string): Promise<Response>;
}

export interface ClientOptions extends RetryOptions {
  readonly userAgent: string;
  /** Told of every exchange. */
  readonly onExchange?: ((line: string) => void) | undefined;
}

interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: JsonObject;
  readonly idempotencyKey?: string;
  readonly waitMs?: number;
}
interface Answer {
  readonly data: JsonObject;
  readonly headers: Headers;
}

export function createClient(settings: ClientSettings, options: ClientOptions): Client {
  const { server } = settings;
  const call = (request: Call) => withRetries(() => exchange(settings, options, request), options);
  const status = async (kind: Kind, id: string, waitSec = 0): Promise<TaskView> => {
    const query = waitSec > 0 ? `?wait=${waitSec}` : "";
    const path = `/v1/${kind}s/status/${encodeURIComponent(id)}${query}`;
    return taskOf((await call({ method: "GET", path, waitMs: waitSec * 1000 })).data);
  };
  return {
    server,
    status,
    async models() {
      const { models } = (await call({ method: "GET", path: "/v1/models" })).data;
      // The members are read one by one, as far as they are there.
      return Array.isArray(models) ? (models as JsonObject[]) : [];
    },
    async model(id) {
      return (await call({ method: "GET", path: `/v1/models/${encodeURIComponent(id)}` })).data;
    },
    async create(kind, body, idempotencyKey) {
      const path = `/v1/${kind}s/generations`;
      const { data, headers } = await call({ method: "POST", path, body, idempotencyKey });
      return {
        taskId: taskOf({ status: "pending", ...data }).task_id,
        requestId: headers.get("x-request-id") ?? undefined,
        cost: headers.get("x-request-cost") ?? undefined,
        replayed: headers.get("x-idempotent-replay") === "true",
      };
    },
    async find(id) {
      try {
        return { kind: "image", task: await status("image", id) };
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== "task_not_found") throw error;
        return { kind: "video", task: await status("video", id) };
      }
    },
    async tasks(query) {
      const path = `/v1/tasks${searchOf(query)}`;
      const { tasks, next } = (await call({ method: "GET", path })).data;
      return {
        tasks: Array.isArray(tasks) ? tasks.map(taskOf) : [],
        next: typeof next === "string" ? next : null,
      };
    },
    async cancel(id) {
      return taskOf(
        (await call({ method: "POST", path: `/v1/tasks/${encodeURIComponent(id)}/cancel` })).data,
      );
    },
    async callbacks(query) {
      return callbackPageOf((await call({ method: "GET", path: `/v1/callbacks${searchOf(query)}` })).data);
    },
    async callback(id) {
      return callbackOf(
        (await call({ method: "GET", path: `/v1/callbacks/${encodeURIComponent(id)}` })).data,
      );
    },
    async redeliver(id) {
      const path = `/v1/callbacks/${encodeURIComponent(id)}/redeliver`;
      return callbackOf((await call({ method: "POST", path })).data);
    },
    async redeliverRange(range) {
      const path = "/v1/callbacks/redeliver";
      return callbackPageOf((await call({ method: "POST", path, body: { ...range } })).data);
    },
    async accountStatus() {
      return (await call({ method: "GET", path: "/v1/account/status" })).data;
    },
    callbackEvents: (lastEventId, signal) =>
      openEvents(settings, options, { path: "/v1/callbacks/events", lastEventId, signal }),
    post,
    fetchFile: (url) => withRetries(() => fetchFile(url, options), options),
  };
}

async function exchange(settings: ClientSettings, options: ClientOptions, request: Call) {
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
      // A key is for the server it was given for.
      redirect: "manual",
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]),
    });
    body = parse(await response.text());
  } catch (error) {
    return { ok: false as const, ...unreachable(error, server) };
  }
  const ms = Math.round(options.timing.now() - startedAt);
  const requestId = response.headers.get("x-request-id") ?? "-";
  options.onExchange?.(`${request.method} ${request.path} ${response.status} ${ms} ms ${requestId}`);
  if (response.status !== 200) return { ok: false as const, ...troubleOf(response, body, server) };
  const value: Answer = { data: dataOf(response, body, server), headers: response.headers };
  return { ok: true as const, value };
}

async function openEvents(
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
    const body = parse(await response.text());
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

async function post(url: string, { headers, body, signal }: Sent) {
  const {
    status,
    statusText,
    body: answer,
  } = await fetch(url, {
    method: "POST",
    // Whatever comes back is not unpacked.
    headers: { ...headers, "Accept-Encoding": "identity" },
    body,
    signal,
    redirect: "manual",
    decompress: false,
    // A connection that is used again can make the runtime send a request twice, and a proxy knows nothing of this machine.
    keepalive: false,
    proxy: false,
  });
  await drain(answer);
  return { status, statusText };
}

/** Takes a little of an answer, so that its sender is done with it, and leaves the rest. */
async function drain(answer: ReadableStream<Uint8Array> | null): Promise<void> {
  if (answer === null) return;
  const reader = answer.getReader();
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_TIMEOUT_MS);
  try {
    for (let sizeBytes = 0; sizeBytes < MAX_DRAINED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
    }
  } catch {
    // The status has said all; a body that breaks off changes nothing.
    return;
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}

function searchOf(query: TaskQuery | CallbackQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

async function fetchFile(url: string, options: ClientOptions) {
  const origin = URL.parse(url)?.origin ?? url;
  try {
    const response = await fetch(url, {
      headers: { "User-Agent": options.userAgent },
      redirect: "manual",
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]),
    });
    options.onExchange?.(`GET ${url} ${response.status}`);
    if (response.status === 200) return { ok: true as const, value: response };
    const { retry, failure, retryAfterMs } = troubleOf(response, parse(await response.text()), origin);
    const code = failure.exitCode === EXIT.auth ? EXIT.error : failure.exitCode;
    const told = new Failure(code, failure.code, `${url}: ${failure.message}`, { more: failure.more });
    return { ok: false as const, failure: told, retry, retryAfterMs };
  } catch (error) {
    return { ok: false as const, ...unreachable(error, origin) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON is no answer of this service; its status still says something.
    return undefined;
  }
}
