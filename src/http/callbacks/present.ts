import type { Callback, CallbackAttempt } from "../../domain/callback/callback.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CallbackReading } from "../../service/read-callback.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** A callback as an entry of a list. */
export function presentCallback(callback: Callback, maxAttempts: number): JsonObject {
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

/** The payload, and how each send went. */
export function presentRest({ payload, history }: CallbackReading): JsonObject {
  return { payload: JSON.parse(payload), history: history.map(presentSend) };
}

function presentSend(send: CallbackAttempt): JsonObject {
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
    // The caller must not learn where a forbidden name leads.
    address: send.outcome === "forbidden" ? null : (send.address ?? null),
    answer: send.excerpt ?? null,
    error: send.reason ?? null,
  };
}
