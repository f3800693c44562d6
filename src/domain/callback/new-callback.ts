import type { Task } from "../task/task.ts";
import { type Callback, hostOf } from "./callback.ts";

/** A callback of a task that nobody has sent yet, due at once. */
export function newCallback(
  task: Pick<Task, "id" | "requestId" | "accountId" | "keyId">,
  told: Pick<Callback, "id" | "url" | "event" | "form" | "mostAttempts">,
  at: number,
): Callback {
  return {
    taskId: task.id,
    requestId: task.requestId,
    accountId: task.accountId,
    keyId: task.keyId,
    host: hostOf(told.url),
    ...told,
    state: "pending",
    attempts: 0,
    dueAt: at,
    isRedeliveryDue: false,
    createdAt: at,
  };
}
