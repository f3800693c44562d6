import type { Principal } from "../domain/access/account.ts";
import { mustBe } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { firstTaskOf, groupIdOf } from "../domain/task/group.ts";
import type { TaskSummary } from "../domain/task/task.ts";
import { type GroupReading, readMembers } from "./read-group.ts";

export interface ListGroupsDeps {
  readonly tasks: Pick<TaskStore, "groups" | "requestOf" | "summary">;
}

/**
 * One page of the caller's groups, newest first.
 * @param query.after `next` of the previous page
 * @throws AppError `invalid_request` naming `after`
 */
export async function listGroups(
  deps: ListGroupsDeps,
  { accountId }: Pick<Principal, "accountId">,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ groups: readonly GroupReading[]; next: string | null }> {
  if (after !== undefined && !isId("grp", after)) throw mustBe("after", { form: "cursor" }, after);
  // One more than requested shows whether there is another page.
  const firsts = await deps.tasks.groups(accountId, { limit: limit + 1, after: after && firstTaskOf(after) });
  const shown = firsts.slice(0, limit);
  const groups = await Promise.all(shown.map((task) => groupAt(deps, task)));
  const last = firsts.length > limit ? shown.at(-1) : undefined;
  return {
    groups: groups.filter((group) => group !== undefined),
    next: last === undefined ? null : groupIdOf(last.id),
  };
}

/** The group whose first task this is; undefined if the task was removed meanwhile. */
async function groupAt(deps: ListGroupsDeps, task: TaskSummary): Promise<GroupReading | undefined> {
  const request = await deps.tasks.requestOf(task);
  const group = request?.group;
  if (request === undefined || group?.tasks[0] !== task.id) return undefined;
  const { createdAt, id } = task;
  const members = await readMembers(deps, group);
  return { id: groupIdOf(id), policy: group.policy, createdAt, cancelAt: request.cancelAt, members };
}
