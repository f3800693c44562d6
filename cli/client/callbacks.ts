import { isId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { type CallbackPage, type CallbackView, callbackOf, callbackPageOf } from "../format/callback-view.ts";

type Range = "state" | "task_id" | "from" | "to" | "limit" | "after";
/** A query by the names of its parameters; undefined ones are left out. Operators also choose an account or a key. */
export type CallbackQuery = { readonly [Name in Range | "account" | "key_id"]?: string | undefined };

/** Requests for callbacks, the same for owners and operators. */
export interface CallbackRequests {
  readonly list: (query: CallbackQuery) => Promise<JsonObject>;
  readonly read: (id: string) => Promise<JsonObject>;
  readonly redeliver: (id: string) => Promise<JsonObject>;
  readonly redeliverRange: (range: CallbackQuery) => Promise<JsonObject>;
}

/** The callbacks of a key's account, or for operators of all accounts. */
export interface Callbacks {
  callbacks(query: CallbackQuery): Promise<CallbackPage>;
  /** Finds a callback's id by that id or by its task's. @throws Failure when the task has no callback */
  callbackIdOf(idOrTask: string): Promise<string>;
  /** With its payload and the outcome of each send. */
  callback(id: string): Promise<CallbackView>;
  /** Asks for one more send. */
  redeliver(id: string): Promise<CallbackView>;
  /** Requests one more send of each callback in a time range, page by page. @returns the callbacks of this page */
  redeliverRange(range: CallbackQuery): Promise<CallbackPage>;
}

export function callbackCalls(requests: CallbackRequests): Callbacks {
  const callbacks = async (query: CallbackQuery) => callbackPageOf(await requests.list(query));
  return {
    callbacks,
    async callbackIdOf(idOrTask) {
      if (!isId("task", idOrTask)) return idOrTask;
      const [found] = (await callbacks({ task_id: idOrTask, limit: "1" })).callbacks;
      if (found !== undefined) return found.id;
      throw new Failure(EXIT.notFound, "not_found", `${idOrTask} has no callback.`, {
        hint: "A task with a callback_url has one once it completed or failed.",
      });
    },
    callback: async (id) => callbackOf(await requests.read(id)),
    redeliver: async (id) => callbackOf(await requests.redeliver(id)),
    redeliverRange: async (range) => callbackPageOf(await requests.redeliverRange(range)),
  };
}

type Query = Readonly<Record<string, string | undefined>>;
interface Asking {
  readonly get: (path: string, query: Query) => Promise<JsonObject>;
  readonly send: (path: string, body?: JsonObject) => Promise<JsonObject>;
}

/** The requests of an API with these paths. */
export function callbackRequests({ get, send }: Asking): CallbackRequests {
  const one = (id: string, verb = "") => `/callbacks/${encodeURIComponent(id)}${verb}`;
  return {
    list: (query) => get("/callbacks", query),
    read: (id) => get(one(id), {}),
    redeliver: (id) => send(one(id, "/redeliver")),
    redeliverRange: (range) => send("/callbacks/redeliver", { ...range }),
  };
}
