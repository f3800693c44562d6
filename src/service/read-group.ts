import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { type GroupId, isId } from "../domain/ids.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { firstTaskOf, type GroupMember } from "../domain/task/group.ts";
import type { GroupPolicy, GroupTerms } from "../domain/task/group-terms.ts";
import { isTerminal } from "../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "./cancel-task.ts";

/** A group as it stands. */
export interface GroupReading {
  readonly id: GroupId;
  readonly policy: GroupPolicy;
  readonly createdAt: number;
  readonly cancelAt: number | undefined;
  readonly members: readonly GroupMember[];
}

/** Reads a group of the caller's account. @throws AppError `task_not_found`, also after its first task was deleted */
export async function readGroup(
  { tasks }: { readonly tasks: Pick<TaskStore, "byId" | "summary"> },
  principal: Pick<Principal, "accountId">,
  id: string,
): Promise<GroupReading> {
  const first = isId("grp", id) ? await tasks.byId(firstTaskOf(id)) : undefined;
  const group = first?.request.group;
  const isOwn = first?.accountId === principal.accountId && group?.tasks[0] === first.id;
  if (first === undefined || group === undefined || !isOwn || !isId("grp", id))
    throw new AppError("task_not_found", { kind: "group_unknown" });
  const members = await readMembers({ tasks }, group);
  const { createdAt, request } = first;
  return { id, policy: group.policy, createdAt, cancelAt: request.cancelAt, members };
}

/** The tasks of a group in their present state. */
export function readMembers(
  { tasks }: { readonly tasks: Pick<TaskStore, "summary"> },
  group: GroupTerms,
): Promise<GroupMember[]> {
  return Promise.all(group.tasks.map(async (id) => ({ id, task: await tasks.summary(id) })));
}

/** Cancels the live tasks of a group. A group whose tasks have all ended stays as it is. @throws AppError `task_not_found` */
export async function cancelGroup(
  deps: CancelTaskDeps,
  principal: Pick<Principal, "accountId">,
  id: string,
): Promise<GroupReading> {
  const { members } = await readGroup(deps, principal, id);
  for (const { task } of members) {
    if (task === undefined || isTerminal(task.status)) continue;
    try {
      await cancelTask(deps, principal, task.id);
    } catch (error) {
      // The task has ended meanwhile, or was removed.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return readGroup(deps, principal, id);
}
