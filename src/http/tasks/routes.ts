import { mustBe } from "../../domain/errors.ts";
import { MAX_STATUS_WAIT_SEC } from "../../domain/limits.ts";
import type { Log } from "../../domain/ports/runtime.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import { type CancelTaskDeps, cancelTask } from "../../service/cancel-task.ts";
import { listTasks } from "../../service/list-tasks.ts";
import type { Aliases } from "../../service/read-model.ts";
import { awaitTask, readTask, withQueuePosition } from "../../service/read-task.ts";
import { type RemoveTaskDeps, removeTask } from "../../service/remove-task.ts";
import { type WatchTaskDeps, watchTask } from "../../service/watch-task.ts";
import {
  type Endpoint,
  followed,
  type KeyedExchange,
  keyed,
  type LateAnswerDeps,
  polled,
} from "../exchange.ts";
import { previewData } from "../preview-data.ts";
import { type Reply, success } from "../reply.ts";
import { type EventWriter, eventReply } from "../sse.ts";
import { whileAllowed } from "../standing.ts";
import { presentListedTask, presentPreview, presentTask } from "./present.ts";
import {
  CANCEL_TASK,
  DELETE_TASK,
  FOLLOW_TASK,
  LIST_TASKS,
  READ_IMAGE_TASK,
  READ_VIDEO_TASK,
} from "./wire.ts";

export interface TaskEndpointDeps extends WatchTaskDeps, LateAnswerDeps, RemoveTaskDeps, CancelTaskDeps {
  readonly aliases: Aliases;
  /** Whether prompts are indexed. */
  readonly searchesPrompts: boolean;
  readonly log: Log;
}

/** Status (docs/api.md 4.5), events, list, cancel and delete. */
export function taskEndpoints(deps: TaskEndpointDeps): Endpoint[] {
  return [
    status(deps, "image", "/v1/images/status/:task_id"),
    status(deps, "video", "/v1/videos/status/:task_id"),
    followed("/v1/tasks/:task_id/events", FOLLOW_TASK, (exchange) => events(deps, exchange)),
    polled(
      "/v1/tasks",
      LIST_TASKS,
      async ({ principal, query, origin }) => {
        const page = await listTasks(deps, principal, Object.fromEntries(query()));
        return success({ tasks: page.tasks.map((task) => presentListedTask(task, origin)), next: page.next });
      },
      "lists",
    ),
    keyed("POST", "/v1/tasks/:task_id/cancel", CANCEL_TASK, {}, async ({ principal, param, origin }) => {
      const task = await cancelTask(deps, principal, param("task_id"));
      const reading = await withQueuePosition(deps, task);
      return success(presentTask(reading, origin), undefined, { task: task.id });
    }),
    keyed("DELETE", "/v1/tasks/:task_id", DELETE_TASK, {}, async ({ principal, param }) => {
      const task = await removeTask(deps, principal, param("task_id"));
      return success({ task_id: task, deleted: true }, undefined, { task });
    }),
  ];
}

function status(deps: TaskEndpointDeps, kind: TaskKind, path: string): Endpoint {
  const contract = kind === "image" ? READ_IMAGE_TASK : READ_VIDEO_TASK;
  const answer = async (exchange: KeyedExchange) => {
    const { request, principal, param, query, origin } = exchange;
    const id = param("task_id");
    const { waitMs, headers } = request.url.includes("wait=") ? waitOf(query().get("wait")) : NO_WAIT;
    const task =
      waitMs === 0
        ? await readTask(deps, principal, id, kind)
        : await wait(deps, exchange, { id, kind, waitMs });
    return success(presentTask(await withQueuePosition(deps, task), origin), headers);
  };
  return polled(path, contract, answer, "reads");
}

async function wait(
  deps: TaskEndpointDeps,
  { request, principal, standing, stay, edgeDeadline }: KeyedExchange,
  asked: { readonly id: string; readonly kind: TaskKind; readonly waitMs: number },
) {
  const leave = stay("waits");
  deps.keepOpen(request);
  // Answers before the address cuts the request, because the task's present state is worth more than a timeout.
  const leftMs = (edgeDeadline() ?? Number.POSITIVE_INFINITY) - deps.elapsed();
  const waitMs = Math.max(0, Math.min(asked.waitMs, leftMs));
  return whileAllowed(standing, (refused) => {
    const signals = [request.signal, deps.stopping, refused];
    return awaitTask(deps, principal, { ...asked, waitMs, signals });
  }).finally(leave);
}

/**
 * The states of a task as server-sent events. Their numbers let a client that reconnects get the states it has missed. Previews
 * come between them without a number, because they cannot be read again.
 */
async function events(deps: TaskEndpointDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, requestId, principal, standing, param, origin } = exchange;
  // Refused before the stream begins, while a 404 is still possible.
  const { id } = await readTask(deps, principal, param("task_id"));
  const seen = numberOf(request.headers.get("last-event-id"));
  const write = async (to: EventWriter, signal: AbortSignal) => {
    let count = 0;
    for await (const event of watchTask(deps, principal, { id, seen, signal })) {
      count += 1;
      if (event.kind === "preview") {
        const { preview } = event;
        await to.event({ name: "preview", data: previewData(presentPreview(id, preview), preview.bytes) });
      } else {
        const { number, task } = event;
        const data = JSON.stringify(presentTask(task, origin));
        await to.event({ name: task.status, id: String(number), data });
      }
    }
    if (count === 0) await to.comment("nothing new");
  };
  const signal = AbortSignal.any([request.signal, deps.stopping]);
  const onError = (error: unknown) =>
    deps.log.error({ request_id: requestId, task: id, err: error as Error }, "an event stream failed");
  const stream = { clock: deps.clock, signal, standing, write, onError };
  return eventReply(stream, { task: id });
}

/** Ignores an id that this service did not issue. */
function numberOf(lastEventId: string | null): number | undefined {
  return lastEventId !== null && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}

interface Wait {
  readonly waitMs: number;
  /** These say what was applied if it differs from the request. */
  readonly headers?: Readonly<Record<string, string>>;
}

const NO_WAIT: Wait = { waitMs: 0 };
const LONGEST_WAIT: Wait = {
  waitMs: MAX_STATUS_WAIT_SEC * 1000,
  headers: { "Preference-Applied": `wait=${MAX_STATUS_WAIT_SEC}` },
};

function waitOf(text: string | null): Wait {
  if (text === null) return NO_WAIT;
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw mustBe("wait", { seconds: { least: 0, most: MAX_STATUS_WAIT_SEC } }, text);
  }
  const waitSec = Number(text);
  return waitSec > MAX_STATUS_WAIT_SEC ? LONGEST_WAIT : { waitMs: waitSec * 1000 };
}
