import { actorOf } from "../../../domain/access/actor.ts";
import type { Log } from "../../../domain/ports/runtime.ts";
import type { ManagedTaskQuery, ManageTasks } from "../../../service/manage-tasks.ts";
import { startOfAll, type WatchAllDeps, watchAll } from "../../../service/watch-all.ts";
import { type Endpoint, type ManagedExchange, managed, managedStream } from "../../exchange.ts";
import { lastEventOf } from "../../last-event.ts";
import { type Reply, success } from "../../reply.ts";
import { eventReply, eventText } from "../../sse.ts";
import { presentFamily } from "../../tasks/lineage/present.ts";
import { familyQueryOf } from "../../tasks/lineage/wire.ts";
import { checkQuery } from "../../wire/check.ts";
import { presentManagedStory, presentManagedTask, presentManagedTrace } from "./present.ts";
import { DEFAULT_PAGE, EVENTS_QUERY, MANAGED_TASKS, TASKS_QUERY } from "./wire.ts";

export interface ManagedTaskEndpointDeps extends WatchAllDeps {
  readonly manageTasks: ManageTasks;
  readonly log: Log;
  /** Aborts when the service stops, which ends every wait. */
  readonly stopping: AbortSignal;
}

/** /admin/v1/tasks and /admin/v1/events. */
export function managedTaskEndpoints(deps: ManagedTaskEndpointDeps): Endpoint[] {
  const { manageTasks: tasks } = deps;
  return [
    managedStream("/admin/v1/events", MANAGED_TASKS.events, (exchange) => follow(deps, exchange)),
    managed("GET", "/admin/v1/tasks", MANAGED_TASKS.list, async ({ query, origin }) => {
      // The schema has checked that it is of this type.
      const asked = checkQuery(TASKS_QUERY, query()) as Partial<ManagedTaskQuery>;
      const page = await tasks.list({ limit: DEFAULT_PAGE, ...asked });
      const presented = page.tasks.map((task) => presentManagedTask(task, origin));
      return success({ tasks: presented, next: page.next ?? null });
    }),
    managed("GET", "/admin/v1/tasks/:id", MANAGED_TASKS.read, async ({ param, origin }) => {
      const story = await tasks.read(param("id"));
      return success(presentManagedStory(story, origin), undefined, { task: story.task.id });
    }),
    managed("GET", "/admin/v1/tasks/:id/trace", MANAGED_TASKS.trace, async ({ param, origin }) => {
      const trace = await tasks.trace(param("id"));
      return success(presentManagedTrace(trace, origin), undefined, { task: trace.task.id });
    }),
    managed("GET", "/admin/v1/tasks/:id/tree", MANAGED_TASKS.tree, async ({ param, query, origin }) =>
      success(presentFamily(await tasks.family(param("id"), familyQueryOf(query())), origin)),
    ),
    managed(
      "POST",
      "/admin/v1/tasks/:id/cancel",
      MANAGED_TASKS.cancel,
      async ({ operator, param, origin }) => {
        const story = await tasks.cancel(param("id"), actorOf(operator));
        return success(presentManagedStory(story, origin), undefined, { task: story.task.id });
      },
    ),
  ];
}

/** Events from the client's last position, or from now on. The stream begins with this position. */
async function follow(
  deps: ManagedTaskEndpointDeps,
  { request, requestId, standing, origin, query }: ManagedExchange,
): Promise<Reply> {
  checkQuery(EVENTS_QUERY, query());
  const after = await startOfAll(deps, lastEventOf(request));
  return eventReply({
    clock: deps.clock,
    standing,
    signal: AbortSignal.any([request.signal, deps.stopping]),
    async write(to, signal) {
      await to.mark(String(after));
      for await (const changes of watchAll(deps, { after, signal })) {
        const texts = changes.map(({ number, task }) => {
          const data = JSON.stringify(presentManagedTask(task, origin));
          return eventText({ name: task.status, id: String(number), data });
        });
        await to.events(texts.join(""));
      }
    },
    onError: (error) =>
      deps.log.error({ request_id: requestId, err: error as Error }, "an event stream failed"),
  });
}
