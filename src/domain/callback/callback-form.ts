import type { JsonObject } from "../json.ts";
import type { ManagedCallback } from "../ports/callback-store.ts";
import type { Callback, CallbackAttempt } from "./callback.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** What everybody may know about a callback. Only its owner may see the address, because receivers put tokens in it. */
export function callbackForm(callback: Callback, maxAttempts: number) {
  return {
    id: callback.id,
    task_id: callback.taskId,
    request_id: callback.requestId,
    state: callback.state,
    attempts: callback.attempts,
    max_attempts: Math.max(callback.mostAttempts ?? maxAttempts, callback.attempts),
    next_attempt_at: callback.state === "pending" ? iso(callback.dueAt) : null,
    redelivery_due: callback.isRedeliveryDue,
    created_at: iso(callback.createdAt),
  };
}

/** A callback as an operator sees it: with its owners, and with the origin of its address only. */
export function managedCallbackForm(callback: ManagedCallback, maxAttempts: number): JsonObject {
  const { account, key, host } = callback;
  return {
    ...callbackForm(callback, maxAttempts),
    host,
    account: { id: account.id, name: account.name },
    key: { id: key.id, name: key.name },
  };
}

/** The payload, and how each send went. */
export function callbackRestForm({
  payload,
  history,
}: {
  readonly payload: string;
  readonly history: readonly CallbackAttempt[];
}): JsonObject {
  return { payload: JSON.parse(payload), history: history.map(sendForm) };
}

function sendForm(send: CallbackAttempt): JsonObject {
  const { startedAt, endedAt } = send;
  return {
    sequence: send.sequence,
    kind: send.isRedelivery ? "redelivery" : "attempt",
    started_at: iso(startedAt),
    ended_at: endedAt === undefined ? null : iso(endedAt),
    // Never negative, even if the clock was set back.
    duration_ms: endedAt === undefined ? null : Math.max(0, endedAt - startedAt),
    outcome: send.outcome ?? null,
    status: send.status ?? null,
    // The caller must not learn to which address a forbidden name resolves.
    address: send.outcome === "forbidden" ? null : (send.address ?? null),
    answer: send.excerpt ?? null,
    error: send.reason ?? null,
  };
}
