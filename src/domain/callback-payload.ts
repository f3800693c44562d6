import { assetPath } from "./asset.ts";
import type { Task } from "./task.ts";

/**
 * The body of a callback (§6): the task's end, with times in ISO 8601 UTC. The same for every send of it.
 *
 * @param publicUrl where this service is reached, when that is set; else the creating request's origin counts
 */
export function callbackPayload(task: Task, publicUrl: string | undefined): string {
  const origin = publicUrl ?? task.origin;
  const iso = (ms: number) => new Date(ms).toISOString();
  return JSON.stringify({
    task_id: task.id,
    request_id: task.requestId,
    status: task.status,
    result:
      task.status === "completed"
        ? task.results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }))
        : undefined,
    error: task.error?.message,
    error_code: task.error?.code,
    created_at: iso(task.createdAt),
    completed_at: iso(task.completedAt ?? task.createdAt),
  });
}
