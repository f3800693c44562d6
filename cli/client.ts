import type { JsonObject } from "../src/domain/json.ts";
import { dataOf, type Kind, type TaskView, taskOf, troubleOf, unreachable } from "./answer.ts";
import type { ClientSettings } from "./environment.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure } from "./failure.ts";
import { type RetryOptions, withRetries } from "./retry.ts";

/** How long a request may take that does not wait on purpose; uploads are part of it. */
const REQUEST_TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;

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
      const given = Object.entries(query).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
      const { tasks, next } = (await call({ method: "GET", path: `/v1/tasks${search}` })).data;
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
