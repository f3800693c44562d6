import { ask } from "../../api/ask.ts";
import { nowMs } from "../../api/connection.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Role } from "../../api/session.ts";
import type { ListedCallback } from "../callbacks/list.ts";

/** A callback with what it says and every send. */
export type CallbackInFull = ListedCallback & Pick<Schemas["CallbackInFull"], "payload" | "history">;
export type Send = CallbackInFull["history"][number];

/** @throws ApiProblem */
export function readCallback(role: Role, id: string, signal?: AbortSignal): Promise<CallbackInFull> {
  return role === "operator"
    ? ask("GET /admin/v1/callbacks/{id}", { path: { id } }, { signal })
    : ask("GET /v1/callbacks/{callback_id}", { path: { callback_id: id } }, { signal });
}

/** Asks for one more send. Asking again before it begins changes nothing. @throws ApiProblem */
export function sendOnceMore(role: Role, id: string): Promise<ListedCallback> {
  return role === "operator"
    ? ask("POST /admin/v1/callbacks/{id}/redeliver", { path: { id } })
    : ask("POST /v1/callbacks/{callback_id}/redeliver", { path: { callback_id: id } });
}

/** An attempt that is due so soon is worth waiting for, in milliseconds. */
const SOON_MS = 15_000;

/** How soon something may have become of it, in milliseconds; undefined: nothing more is to come. */
export function nextLookMs({ redelivery_due, next_attempt_at, history }: CallbackInFull): number | undefined {
  const isUnderWay = redelivery_due || history.some(({ ended_at }) => ended_at === null);
  if (isUnderWay) return 1_000;
  if (next_attempt_at === null) return undefined;
  const dueInMs = Date.parse(next_attempt_at) - nowMs();
  return dueInMs < SOON_MS ? 1_000 : SOON_MS;
}
