import type { Principal } from "../domain/access/account.ts";
import { AppError, mustBe } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { FamilyPage } from "../domain/task/family.ts";

/**
 * Some of the family of a task of the caller's account.
 * @param query.after `next` of the page before
 * @throws AppError `task_not_found`; `invalid_request` for an `after` that is no id of a task
 */
export async function readFamily(
  { tasks }: { readonly tasks: Pick<TaskStore, "family"> },
  { accountId }: Pick<Principal, "accountId">,
  id: string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<FamilyPage> {
  if (after !== undefined && !isId("task", after)) throw mustBe("after", { form: "cursor" }, after);
  const page = isId("task", id) ? await tasks.family(id, accountId, { limit, after }) : undefined;
  if (page === undefined) throw new AppError("task_not_found", { kind: "task_unknown" });
  return page;
}
