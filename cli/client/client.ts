import type { JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { Failure } from "../failure.ts";
import { type CallbackPage, type CallbackView, callbackOf, callbackPageOf } from "../format/callback-view.ts";
import { type Kind, type TaskView, taskOf } from "./answer.ts";
import { type Call, type ClientOptions, exchange } from "./exchange.ts";
import { fetchFile } from "./file.ts";
import { createModelCalls, type ModelCalls } from "./models.ts";
import { type Opened, openEvents } from "./open-events.ts";
import { post, type Sent } from "./post.ts";
import { withRetries } from "./retry.ts";

export interface Created {
  readonly taskId: string;
  readonly requestId?: string | undefined;
  /** The amount held, as the server writes it. */
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

/** The service's HTTP API, as any caller uses it. Every method throws a Failure when it is refused or gets no answer. */
export interface Client extends ModelCalls {
  readonly server: string;
  create(kind: Kind, body: JsonObject, idempotencyKey: string): Promise<Created>;
  /** Returns at once, or with `waitSec` (0-60) as soon as the task has ended, but no later. */
  status(kind: Kind, id: string, waitSec?: number): Promise<TaskView>;
  /** Finds out the kind of the task, which its id does not tell. */
  find(id: string): Promise<{ kind: Kind; task: TaskView }>;
  tasks(query: TaskQuery): Promise<{ tasks: TaskView[]; next: string | null }>;
  cancel(id: string): Promise<TaskView>;
  callbacks(query: CallbackQuery): Promise<CallbackPage>;
  /** With its payload and the outcome of each send. */
  callback(id: string): Promise<CallbackView>;
  /** Asks for one more send. */
  redeliver(id: string): Promise<CallbackView>;
  /** Asks for one more send of each callback in a range of time, page by page. @returns those of this page */
  redeliverRange(range: CallbackQuery): Promise<CallbackPage>;
  /** What the key may do, and its account. */
  accountStatus(): Promise<JsonObject>;
  /** Opens the stream of what is posted for this key's tasks. Tried once. */
  callbackEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<Opened>;
  /** POSTs to an address of the user's own, without any credential or redirect. Tried once. @throws when nobody answers */
  post(url: string, sent: Sent): Promise<{ readonly status: number; readonly statusText: string }>;
  /** Requests a result's file, without any credential or redirect. */
  fetchFile(url: string): Promise<Response>;
}

export function createClient(settings: ClientSettings, options: ClientOptions): Client {
  const call = (request: Call) => withRetries(() => exchange(settings, options, request), options);
  const get = async (path: string, waitMs?: number) =>
    (await call(waitMs === undefined ? { method: "GET", path } : { method: "GET", path, waitMs })).data;
  const send = async (path: string, body?: JsonObject) =>
    (await call(body === undefined ? { method: "POST", path } : { method: "POST", path, body })).data;
  const status = async (kind: Kind, id: string, waitSec = 0): Promise<TaskView> => {
    const query = waitSec > 0 ? `?wait=${waitSec}` : "";
    return taskOf(await get(`/v1/${kind}s/status/${encodeURIComponent(id)}${query}`, waitSec * 1000));
  };
  return {
    server: settings.server,
    status,
    ...createModelCalls(get),
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
      const { tasks, next } = await get(`/v1/tasks${searchOf(query)}`);
      return {
        tasks: Array.isArray(tasks) ? tasks.map(taskOf) : [],
        next: typeof next === "string" ? next : null,
      };
    },
    cancel: async (id) => taskOf(await send(`/v1/tasks/${encodeURIComponent(id)}/cancel`)),
    callbacks: async (query) => callbackPageOf(await get(`/v1/callbacks${searchOf(query)}`)),
    callback: async (id) => callbackOf(await get(`/v1/callbacks/${encodeURIComponent(id)}`)),
    redeliver: async (id) => callbackOf(await send(`/v1/callbacks/${encodeURIComponent(id)}/redeliver`)),
    redeliverRange: async (range) => callbackPageOf(await send("/v1/callbacks/redeliver", { ...range })),
    accountStatus: () => get("/v1/account/status"),
    callbackEvents: (lastEventId, signal) =>
      openEvents(settings, options, { path: "/v1/callbacks/events", lastEventId, signal }),
    post,
    fetchFile: (url) => withRetries(() => fetchFile(url, options), options),
  };
}

function searchOf(query: TaskQuery | CallbackQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
