import type { ManagedTaskQuery, ManageTasks } from "../../../service/manage-tasks.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { presentManagedStory, presentManagedTask } from "./present.ts";
import { DEFAULT_PAGE, MANAGED_TASKS, TASKS_QUERY } from "./wire.ts";

/** /admin/v1/tasks. */
export function managedTaskEndpoints(tasks: ManageTasks): Endpoint[] {
  return [
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
    managed("POST", "/admin/v1/tasks/:id/cancel", MANAGED_TASKS.cancel, async ({ param, origin }) => {
      const story = await tasks.cancel(param("id"));
      return success(presentManagedStory(story, origin), undefined, { task: story.task.id });
    }),
  ];
}
