import type { CallbackId, TaskId } from "../ids.ts";
import { assetPath } from "../media/asset.ts";
import type { CallbackPost } from "../ports/egress.ts";
import type { Secrets } from "../ports/runtime.ts";
import type { Task, TaskSummary } from "../task/task.ts";
import { signatureHeaders } from "./signature.ts";

/** The body of a callback (docs/api.md 6.1), the same for every send. Times are ISO 8601 UTC. */
export function callbackPayload(task: Task, publicUrl: string | undefined): string {
  const origin = publicUrl ?? task.origin;
  const { task_id, status, ...outcome } = toldOutcome(task, origin);
  return JSON.stringify({ task_id, request_id: task.requestId, status, ...outcome, ...toldTimes(task) });
}

/** The outcome of a task as callbacks report it. Absent members are undefined. */
export function toldOutcome(task: TaskSummary, origin: string) {
  return {
    task_id: task.id,
    status: task.status,
    result:
      task.status === "completed"
        ? task.results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }))
        : undefined,
    result_issues: task.resultIssues?.map(({ index, code, message }) => ({ index, code, message })),
    error: task.error?.message,
    error_code: task.error?.code,
  };
}

/** When something was created and when it ended, as callbacks report it. */
export function toldTimes({ createdAt, completedAt = createdAt }: Pick<Task, "createdAt" | "completedAt">) {
  const iso = (ms: number) => new Date(ms).toISOString();
  return { created_at: iso(createdAt), completed_at: iso(completedAt) };
}

/**
 * The request that is posted at a task's end: the body, signed if the key that created the task has secrets.
 *
 * @param send.id the callback's id, or the task's if there is no callback
 * @param send.kept the key's secrets, from `AccountStore.callbackSecret`
 */
export function callbackPost(
  {
    secrets,
    publicUrl,
  }: { readonly secrets: Pick<Secrets, "sign">; readonly publicUrl?: string | undefined },
  task: Task,
  send: { readonly id: CallbackId | TaskId; readonly at: number; readonly kept: string | undefined },
): CallbackPost {
  const body = callbackPayload(task, publicUrl);
  const { id, at, kept } = send;
  return kept === undefined ? { body } : { body, headers: signatureHeaders(secrets, kept, { id, at, body }) };
}
