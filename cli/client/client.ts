import type { JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { Failure } from "../failure.ts";
import { type Kind, type TaskView, taskOf } from "./answer.ts";
import { type CallbackQuery, callbackCalls, callbackRequests } from "./callbacks.ts";
import { type Call, type ClientOptions, exchange, fetchFile, openEvents } from "./exchange.ts";
import { groupCalls } from "./groups.ts";
import { madeFromCalls } from "./made-from.ts";
import { type ManagedTaskQuery, managedTaskCalls } from "./managed.ts";
import { readModelOrTell } from "./missing-model.ts";
import { post } from "./post.ts";
import { type Attempt, withRetries } from "./retry.ts";
import { storyOf } from "./story.ts";
import type { Part } from "./transfer.ts";

/** The service's HTTP API, as any caller uses it. Every method throws a Failure when it is refused or gets no answer. */
export type Client = ReturnType<typeof createClient>;
export type Created = Awaited<ReturnType<Client["create"]>>;

/** A query by the names of its parameters; those that are undefined are left out. */
type Query<Name extends string> = { readonly [Each in Name]?: string | undefined };
export type TaskQuery = Query<"kind" | "status" | "model" | "q" | "limit" | "after">;

export function createClient(settings: ClientSettings, options: ClientOptions) {
  const call = (request: Call) => withRetries(() => exchange(settings, options, request), options);
  const get = async (path: string, waitMs?: number) => (await call({ method: "GET", path, waitMs })).data;
  const send = async (path: string, body?: JsonObject) => (await call({ method: "POST", path, body })).data;
  /** Returns at once, or with `waitSec` (0-60) as soon as the task has ended, but no later. */
  const status = async (kind: Kind, id: string, waitSec = 0): Promise<TaskView> => {
    const query = waitSec > 0 ? `?wait=${waitSec}` : "";
    return taskOf(await get(`${statusPath(kind, id)}${query}`, waitSec * 1000));
  };
  return {
    server: settings.server,
    status,
    /** The same, asked once. */
    readStatus: (kind: Kind, id: string, wait: StatusWait) =>
      readStatus(settings, options, { kind, id, ...wait }),
    ...ownCallbacks(get, send),
    ...modelCalls(get, send),
    ...managedTaskCalls({
      get: (path, query = {}) => get(`/admin/v1${path}${searchOf(query)}`),
      send: (path) => send(`/admin/v1${path}`),
    }),
    create: async (kind: Kind, body: JsonObject, idempotencyKey: string) =>
      createdOf(await call({ method: "POST", path: `/v1/${kind}s/generations`, body, idempotencyKey })),
    /** Creates a task like one that has ended. */
    retry: async (id: string, idempotencyKey: string) =>
      createdOf(
        await call({ method: "POST", path: `/v1/tasks/${encodeURIComponent(id)}/retry`, idempotencyKey }),
      ),
    /** Everything about a task of either kind. */
    story: async (id: string) => storyOf(await get(`/v1/tasks/${encodeURIComponent(id)}`)),
    /** Its stages, and where the time of its attempts was spent. */
    trace: (id: string) => get(`/v1/tasks/${encodeURIComponent(id)}/trace`),
    /** Finds out the kind of the task, which its id does not tell. */
    async find(id: string): Promise<{ kind: Kind; task: TaskView }> {
      try {
        return { kind: "image", task: await status("image", id) };
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== "task_not_found") throw error;
        return { kind: "video", task: await status("video", id) };
      }
    },
    async tasks(query: TaskQuery) {
      const { tasks, next } = await get(`/v1/tasks${searchOf(query)}`);
      return {
        tasks: Array.isArray(tasks) ? tasks.map(taskOf) : [],
        next: typeof next === "string" ? next : null,
      };
    },
    ...endCalls(call),
    ...{ ...madeFromCalls(call), ...groupCalls(call) },
    /** What the key may do, and the state of its account. */
    accountStatus: () => get("/v1/account/status"),
    ...eventCalls(settings, options),
    /** POSTs to an address of the user's own, without any credential or redirect. Tried once. @throws when nobody answers */
    post,
    /** Requests a result's file, without any credential. */
    fetchFile: (url: string, part?: Partial<Part>) =>
      withRetries(() => fetchFile(url, options, part), options),
  };
}

/** What ends a task. */
function endCalls(call: (request: Call) => Promise<{ readonly data: JsonObject }>) {
  const pathOf = (id: string) => `/v1/tasks/${encodeURIComponent(id)}`;
  return {
    cancel: async (id: string) => taskOf((await call({ method: "POST", path: `${pathOf(id)}/cancel` })).data),
    /** Deletes an ended task. Deleting it again succeeds. */
    remove: async (id: string) => void (await call({ method: "DELETE", path: pathOf(id) })),
  };
}

/** Opens endless streams. Each is tried once. */
function eventCalls(settings: ClientSettings, options: ClientOptions) {
  const opening = (path: string) => (lastEventId: string | undefined, signal: AbortSignal) =>
    openEvents(settings, options, { path, lastEventId, signal });
  return {
    /** The changes of the account's tasks. */
    taskEvents: opening("/v1/events"),
    /** The changes of all accounts' tasks, for a management token. */
    managedEvents: opening("/admin/v1/events"),
    /** What is posted for this key's tasks. */
    callbackEvents: opening("/v1/callbacks/events"),
  };
}

/** A task that was accepted. */
export function createdOf({ data, headers }: { readonly data: JsonObject; readonly headers: Headers }) {
  return {
    taskId: taskOf({ status: "pending", ...data }).task_id,
    requestId: headers.get("x-request-id") ?? undefined,
    /** The amount held, as the server writes it. */
    cost: headers.get("x-request-cost") ?? undefined,
    replayed: headers.get("x-idempotent-replay") === "true",
  };
}

interface StatusWait {
  /** How long the server may wait for the task's end. */
  readonly waitSec: number;
  /** How long its answer may take in addition to that wait. */
  readonly answerWithinMs: number;
}

const statusPath = (kind: Kind, id: string) => `/v1/${kind}s/status/${encodeURIComponent(id)}`;

async function readStatus(
  settings: ClientSettings,
  options: ClientOptions,
  { kind, id, waitSec, answerWithinMs }: StatusWait & { kind: Kind; id: string },
): Promise<Attempt<TaskView>> {
  const path = `${statusPath(kind, id)}${waitSec > 0 ? `?wait=${waitSec}` : ""}`;
  const read = await exchange(settings, options, {
    method: "GET",
    path,
    waitMs: waitSec * 1000,
    answerWithinMs,
  });
  return read.ok ? { ok: true, value: taskOf(read.value.data) } : read;
}

type Get = (path: string) => Promise<JsonObject>;

type Send = (path: string, body?: JsonObject) => Promise<JsonObject>;

/** The callbacks of the key's account. */
function ownCallbacks(get: Get, send: Send) {
  return callbackCalls(
    callbackRequests({
      get: (path, query) => get(`/v1${path}${searchOf(query)}`),
      send: (path, body) => send(`/v1${path}`, body),
    }),
  );
}

function modelCalls(get: Get, send: Send) {
  const allModels = async () => modelsOf(await get("/v1/models?all=true"));
  const read = (id: string, query: string) =>
    readModelOrTell(id, () => get(`/v1/models/${encodeURIComponent(id)}${query}`), allModels);
  return {
    model: (id: string) => read(id, ""),
    /** Lists every model, available or not. */
    allModels,
    anyModel: (id: string) => read(id, "?all=true"),
    /** What a create body would cost. */
    estimate: (body: JsonObject) => send("/v1/pricing/estimate", body),
    /** Lists every model with its routes, for a management token. */
    managedModels: async () => modelsOf(await get("/admin/v1/models")),
    managedModel: (id: string) => get(`/admin/v1/models/${encodeURIComponent(id)}`),
  };
}

/** Takes the list as it is: its reader checks each field. */
function modelsOf({ models }: JsonObject): JsonObject[] {
  return Array.isArray(models) ? (models as JsonObject[]) : [];
}

function searchOf(query: TaskQuery | CallbackQuery | ManagedTaskQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
