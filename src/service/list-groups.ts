import type { Principal } from "../domain/access/account.ts";
import { mustBe } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { firstTaskOf, groupIdOf } from "../domain/task/group.ts";
import type { TaskSummary } from "../domain/task/task.ts";
import { type GroupReading, readMembers } from "./read-group.ts";

export interface ListGroupsDeps {
  readonly tasks: Pick<TaskStore, "list" | "requestOf" | "summary">;
  /** Lets others work; see `createTurns`. */
  readonly turn: () => Promise<void>;
}

/** Tasks that one page looks at. A group is found by its first task, and most tasks are of no group. */
export const LOOKED_AT = 1_000;
/** Tasks that are looked at before others have their turn. */
const AT_ONCE = 100;

/**
 * One page of the caller's groups, newest first. It can be short, even empty, and have a next one all the same.
 * @param query.after `next` of the page before
 * @throws AppError `invalid_request` naming `after`
 */
export async function listGroups(
  deps: ListGroupsDeps,
  { accountId }: Pick<Principal, "accountId">,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ groups: readonly GroupReading[]; next: string | null }> {
  if (after !== undefined && !isId("grp", after)) throw mustBe("after", { form: "cursor" }, after);
  const groups: GroupReading[] = [];
  let last = after && firstTaskOf(after);
  for (let looked = 0; looked < LOOKED_AT; looked += AT_ONCE) {
    if (looked > 0) await deps.turn();
    const tasks = await deps.tasks.list({ accountId, limit: AT_ONCE, after: last });
    for (const task of tasks) {
      const group = await groupAt(deps, task);
      if (group !== undefined && groups.length === limit) return { groups, next: cursorAt(last) };
      if (group !== undefined) groups.push(group);
      last = task.id;
    }
    if (tasks.length < AT_ONCE) return { groups, next: null };
  }
  return { groups, next: cursorAt(last) };
}

/** Behind the last task that was looked at, whether or not a group begins with it. */
const cursorAt = (last: TaskId | undefined) => (last === undefined ? null : groupIdOf(last));

/** The group that a task is the first of. */
async function groupAt(deps: ListGroupsDeps, task: TaskSummary): Promise<GroupReading | undefined> {
  const request = await deps.tasks.requestOf(task);
  const group = request?.group;
  if (request === undefined || group?.tasks[0] !== task.id) return undefined;
  const { createdAt, id } = task;
  const members = await readMembers(deps, group);
  return { id: groupIdOf(id), policy: group.policy, createdAt, cancelAt: request.cancelAt, members };
}
