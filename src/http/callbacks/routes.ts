import type { Callback, CallbackAttempt } from "../../domain/callback/callback.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CallbackPage, CallbackSelection } from "../../service/callback-selection.ts";
import { listCallbacks } from "../../service/list-callbacks.ts";
import { type CallbackReading, type ReadCallbackDeps, readCallback } from "../../service/read-callback.ts";
import {
  type RedeliverDeps,
  redeliverCallback,
  redeliverCallbacks,
} from "../../service/redeliver-callbacks.ts";
import { read } from "../admin/managed.ts";
import type { Endpoint } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import {
  CALLBACK_QUERY,
  LIST_CALLBACKS,
  READ_CALLBACK,
  REDELIVER_CALLBACK,
  REDELIVER_CALLBACKS,
  REDELIVERY,
} from "./wire.ts";

export interface CallbackEndpointDeps extends ReadCallbackDeps, RedeliverDeps {
  /** Attempts a callback gets at most. */
  readonly maxAttempts: number;
}

/** What a selection is called on the wire; the schemas say its types. */
interface SelectionBody extends Omit<CallbackSelection, "taskId"> {
  readonly task_id?: string;
}

const DEFAULT_LIMIT = 20;

/** The account's callbacks: list, one with its history, and once more. */
export function callbackEndpoints(deps: CallbackEndpointDeps): Endpoint[] {
  const present = (callback: Callback) => presentCallback(callback, deps.maxAttempts);
  const presentPage = ({ callbacks, next }: CallbackPage<Callback>) => ({
    callbacks: callbacks.map(present),
    next,
  });
  return [
    {
      method: "GET",
      path: "/v1/callbacks",
      contract: LIST_CALLBACKS,
      access: "api_key",
      logLevel: "debug",
      async handle({ principal, query }) {
        // The schema is what the type stands for.
        const asked = checkQuery(CALLBACK_QUERY, query()) as SelectionBody & { readonly limit?: number };
        const { limit = DEFAULT_LIMIT, ...selection } = asked;
        return success(
          presentPage(await listCallbacks(deps, principal, { ...toSelection(selection), limit })),
        );
      },
    },
    {
      method: "POST",
      path: "/v1/callbacks/redeliver",
      contract: REDELIVER_CALLBACKS,
      access: "api_key",
      isCounted: true,
      async handle({ principal, request }) {
        const selection = toSelection(await read<SelectionBody>(request, REDELIVERY));
        return success(presentPage(await redeliverCallbacks(deps, principal, selection)));
      },
    },
    {
      method: "GET",
      path: "/v1/callbacks/:callback_id",
      contract: READ_CALLBACK,
      access: "api_key",
      logLevel: "debug",
      async handle({ principal, param }) {
        const reading = await readCallback(deps, principal, param("callback_id"));
        const { callback } = reading;
        return success({ ...present(callback), ...presentRest(reading) }, undefined, {
          task: callback.taskId,
        });
      },
    },
    {
      method: "POST",
      path: "/v1/callbacks/:callback_id/redeliver",
      contract: REDELIVER_CALLBACK,
      access: "api_key",
      isCounted: true,
      async handle({ principal, param }) {
        const callback = await redeliverCallback(deps, principal, param("callback_id"));
        return success(present(callback), undefined, { task: callback.taskId });
      },
    },
  ];
}

function toSelection({ task_id: taskId, state, from, to, after }: SelectionBody): CallbackSelection {
  return { taskId, state, from, to, after };
}

const iso = (ms: number) => new Date(ms).toISOString();

function presentCallback(callback: Callback, maxAttempts: number): JsonObject {
  return {
    id: callback.id,
    task_id: callback.taskId,
    request_id: callback.requestId,
    url: callback.url,
    state: callback.state,
    attempts: callback.attempts,
    max_attempts: Math.max(maxAttempts, callback.attempts),
    next_attempt_at: callback.state === "pending" ? iso(callback.dueAt) : null,
    redelivery_due: callback.isRedeliveryDue,
    created_at: iso(callback.createdAt),
  };
}

function presentRest({ payload, history }: CallbackReading): JsonObject {
  return { payload: JSON.parse(payload), history: history.map(presentSend) };
}

function presentSend(send: CallbackAttempt): JsonObject {
  const { startedAt, endedAt } = send;
  return {
    sequence: send.sequence,
    kind: send.isRedelivery ? "redelivery" : "attempt",
    started_at: iso(startedAt),
    ended_at: endedAt === undefined ? null : iso(endedAt),
    // A clock that was set back makes no time negative.
    duration_ms: endedAt === undefined ? null : Math.max(0, endedAt - startedAt),
    outcome: send.outcome ?? null,
    status: send.status ?? null,
    // Where a refused name leads to is the operator's business.
    address: send.outcome === "forbidden" ? null : (send.address ?? null),
    answer: send.excerpt ?? null,
    error: send.reason ?? null,
  };
}
