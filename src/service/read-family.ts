import type { Principal } from "../domain/access/account.ts";
import { AppError, mustBe } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { FamilyPage } from "../domain/task/family.ts";

/** Which page of a family. */
export interface FamilyQuery {
  /** Tasks in the page, ≥ 1. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

/**
 * Part of the family of a task of the caller's account.
 * @throws AppError `task_not_found`; `invalid_request` if `after` is no id of a task
 */
export async function readFamily(
  { tasks }: { readonly tasks: Pick<TaskStore, "family"> },
  { accountId }: Pick<Principal, "accountId">,
  id: string,
  { limit, after }: FamilyQuery,
): Promise<FamilyPage> {
  if (after !== undefined && !isId("task", after)) throw mustBe("after", { form: "cursor" }, after);
  const page = isId("task", id) ? await tasks.family(id, accountId, { limit, after }) : undefined;
  if (page === undefined) throw new AppError("task_not_found", { kind: "task_unknown" });
  return page;
}
