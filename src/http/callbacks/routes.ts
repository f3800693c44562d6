import type { Callback } from "../../domain/callback/callback.ts";
import { callbackRestForm } from "../../domain/callback/callback-form.ts";
import { type CallbackPage, type CallbackSelection, listCallbacks } from "../../service/list-callbacks.ts";
import { type ReadCallbackDeps, readCallback } from "../../service/read-callback.ts";
import {
  type RedeliverDeps,
  redeliverCallback,
  redeliverCallbacks,
} from "../../service/redeliver-callbacks.ts";
import { readBody } from "../body.ts";
import { counted, type Endpoint, type KeyedExchange, polled } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import { presentCallback } from "./present.ts";
import {
  CALLBACK_QUERY,
  LIST_CALLBACKS,
  READ_CALLBACK,
  REDELIVER_CALLBACK,
  REDELIVER_CALLBACKS,
  REDELIVERY,
} from "./wire.ts";

export interface CallbackEndpointDeps extends ReadCallbackDeps, RedeliverDeps {
  /** Most attempts of a callback. */
  readonly maxAttempts: () => number;
}

/** A selection as a request names its fields. The schemas check their types. */
interface SelectionBody extends Omit<CallbackSelection, "taskId"> {
  readonly task_id?: string;
}

const DEFAULT_LIMIT = 20;

/** Lists the account's callbacks, reads one with its history, and sends them again. */
export function callbackEndpoints(deps: CallbackEndpointDeps): Endpoint[] {
  const present = (callback: Callback) => presentCallback(callback, deps.maxAttempts());
  const presentPage = ({ callbacks, next }: CallbackPage<Callback>) => ({
    callbacks: callbacks.map(present),
    next,
  });
  async function list({ principal, query }: KeyedExchange) {
    // The schema has checked that it is of this type.
    const asked = checkQuery(CALLBACK_QUERY, query()) as SelectionBody & { readonly limit?: number };
    const { limit = DEFAULT_LIMIT, ...selection } = asked;
    return success(presentPage(await listCallbacks(deps, principal, { ...toSelection(selection), limit })));
  }
  return [
    polled("/v1/callbacks", LIST_CALLBACKS, list, "lists"),
    counted("/v1/callbacks/redeliver", REDELIVER_CALLBACKS, async (exchange) => {
      const selection = toSelection(await readBody<SelectionBody>(exchange, REDELIVERY));
      return success(presentPage(await redeliverCallbacks(deps, exchange.principal, selection)));
    }),
    polled("/v1/callbacks/:callback_id", READ_CALLBACK, async ({ principal, param }) => {
      const reading = await readCallback(deps, principal, param("callback_id"));
      const { callback } = reading;
      const body = { ...present(callback), ...callbackRestForm(reading) };
      return success(body, undefined, { task: callback.taskId });
    }),
    counted("/v1/callbacks/:callback_id/redeliver", REDELIVER_CALLBACK, async ({ principal, param }) => {
      const callback = await redeliverCallback(deps, principal, param("callback_id"));
      return success(present(callback), undefined, { task: callback.taskId });
    }),
  ];
}

function toSelection({ task_id: taskId, state, from, to, after }: SelectionBody): CallbackSelection {
  return { taskId, state, from, to, after };
}
