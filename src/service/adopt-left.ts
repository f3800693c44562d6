import type { TaskId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TaskSummary } from "../domain/task/task.ts";
import type { Orphans } from "./orphans.ts";

export interface AdoptDeps {
  readonly orphans: Pick<Orphans, "adopt" | "add" | "lookAgain">;
  readonly clock: Pick<Clock, "elapsed">;
  readonly tasks: Pick<TaskStore, "summary">;
}

/**
 * The task that an equal request recently left, if any; no other request gets it. Failed tasks are skipped, because they cost
 * nothing and the request can be tried again. Deleted tasks, and those whose files were removed, are skipped too.
 * @param scope equal for equal requests
 */
export async function adoptLeft(deps: AdoptDeps, scope: string): Promise<TaskSummary | undefined> {
  await deps.orphans.lookAgain?.();
  for (;;) {
    const now = deps.clock.elapsed();
    const id = deps.orphans.adopt(scope, now);
    if (id === undefined) return undefined;
    const task = await joinable(deps, id).catch((error: unknown) => {
      deps.orphans.add(scope, id, now);
      throw error;
    });
    if (task !== undefined) return task;
  }
}

async function joinable({ tasks }: Pick<AdoptDeps, "tasks">, id: TaskId): Promise<TaskSummary | undefined> {
  const task = await tasks.summary(id);
  const isJoinable = task?.filesRemovedAt === undefined && !UNWANTED.has(task?.status);
  return isJoinable ? task : undefined;
}

const UNWANTED: ReadonlySet<TaskSummary["status"] | undefined> = new Set(["failed", "cancelled"]);
