import { AppError } from "../../domain/errors.ts";
import { MAX_STATUS_WAIT_SEC } from "../../domain/limits.ts";
import type { Clock, TaskFeed, Wakeup } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { TaskKind } from "../../domain/request.ts";
import { cancelTask } from "../../service/cancel-task.ts";
import { listTasks } from "../../service/list-tasks.ts";
import { awaitTask, readTask } from "../../service/read-task.ts";
import type { Route } from "../exchange.ts";
import { presentListedTask, presentTask } from "../present.ts";
import { success } from "../reply.ts";

export interface TaskRouteDeps {
  readonly tasks: TaskStore;
  readonly clock: Clock;
  readonly feed: TaskFeed;
  readonly wakeup: Wakeup;
  /** Aborts when the service stops, so that nobody waits on for nothing. */
  readonly stopping: AbortSignal;
  /** Lifts the server's own limit on how long a request may stay open. */
  readonly keepOpen: (request: Request) => void;
}

/** Status (§4.4), list and cancel. */
export function taskRoutes(deps: TaskRouteDeps): Route[] {
  return [
    status(deps, "image", "/v1/images/status/:task_id"),
    status(deps, "video", "/v1/videos/status/:task_id"),
    {
      method: "GET",
      path: "/v1/tasks",
      access: "api_key",
      logLevel: "debug",
      async handle({ principal, query, origin }) {
        const page = await listTasks(deps, principal, Object.fromEntries(query()));
        return success({ tasks: page.tasks.map((task) => presentListedTask(task, origin)), next: page.next });
      },
    },
    {
      method: "POST",
      path: "/v1/tasks/:task_id/cancel",
      access: "api_key",
      async handle({ principal, param, origin }) {
        const task = await cancelTask(deps, principal, param("task_id"));
        return success(presentTask(task, origin), undefined, { task: task.id });
      },
    },
  ];
}

function status(deps: TaskRouteDeps, kind: TaskKind, path: string): Route {
  return {
    method: "GET",
    path,
    access: "api_key",
    logLevel: "debug",
    async handle({ request, principal, param, query, origin }) {
      const id = param("task_id");
      const waitMs = request.url.includes("wait=") ? waitOf(query().get("wait")) : 0;
      if (waitMs === 0) return success(presentTask(await readTask(deps, principal, id, kind), origin));
      deps.keepOpen(request);
      const signal = AbortSignal.any([request.signal, deps.stopping]);
      return success(presentTask(await awaitTask(deps, principal, { id, kind, waitMs, signal }), origin));
    },
  };
}

function waitOf(text: string | null): number {
  if (text === null) return 0;
  const waitSec = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (waitSec >= 0 && waitSec <= MAX_STATUS_WAIT_SEC) return waitSec * 1000;
  throw new AppError(
    "invalid_request",
    `wait must be a number of seconds from 0 to ${MAX_STATUS_WAIT_SEC}, got "${text.slice(0, 80)}".`,
    { param: "wait" },
  );
}
