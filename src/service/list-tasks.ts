import type { Principal } from "../domain/access/account.ts";
import { invalid, mustBe } from "../domain/errors.ts";
import { isId, type ModelId } from "../domain/ids.ts";
import { MAX_LIST_LIMIT } from "../domain/limits.ts";
import type { TaskFilter, TaskStore } from "../domain/ports/task-store.ts";
import { TASK_STATUSES, type TaskStatus, type TaskSummary } from "../domain/task/task.ts";
import { type Aliases, aliasedId } from "./read-model.ts";

/** The query parameters of a listing, as given. */
export type ListQuery = { readonly [Name in "kind" | "status" | "model" | "q" | "limit" | "after"]?: string };

const DEFAULT_LIMIT = 20;

/**
 * One page of the caller's tasks, newest first.
 * @returns the tasks, and the cursor of the next page if there is one. A page of a search may be short although another follows
 * @throws AppError `invalid_request` naming the parameter at fault
 */
export async function listTasks(
  deps: { tasks: TaskStore; aliases: Aliases; searchesPrompts: boolean },
  principal: Principal,
  query: ListQuery,
): Promise<{ tasks: readonly TaskSummary[]; next: string | null }> {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (!/^\d*$/.test(query.limit ?? "") || limit < 1 || limit > MAX_LIST_LIMIT) {
    throw mustBe("limit", { integer: { least: 1, most: MAX_LIST_LIMIT } }, query.limit);
  }
  const { after, kind, status, model } = query;
  if (after !== undefined && !isId("task", after)) throw mustBe("after", { form: "cursor" }, after);
  if (kind !== undefined && kind !== "image" && kind !== "video")
    throw mustBe("kind", { form: "kind" }, kind);
  if (status !== undefined && !isStatus(status)) throw mustBe("status", { oneOf: TASK_STATUSES }, status);
  if (model === "") throw mustBe("model", { form: "model_id" }, model);
  const filter: Omit<TaskFilter, "limit"> = {
    accountId: principal.accountId,
    kind,
    status,
    // An id that is neither an alias nor a model finds no tasks.
    model: model === undefined ? undefined : (aliasedId(deps, principal, model) ?? (model as ModelId)),
    after,
  };
  if (query.q !== undefined) {
    const found = await deps.tasks.search({ ...filter, limit, text: searchText(deps, query.q) });
    return { tasks: found.tasks, next: found.next ?? null };
  }
  // One more than requested shows whether there is another page.
  const tasks = await deps.tasks.list({ ...filter, limit: limit + 1 });
  const page = tasks.slice(0, limit);
  return { tasks: page, next: tasks.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** A text to search prompts for. @throws AppError `invalid_request` if the text is empty or prompts are not indexed */
export function searchText(deps: { readonly searchesPrompts: boolean }, text: string): string {
  if (!deps.searchesPrompts) throw invalid({ kind: "search_off", field: "q" });
  if (text.trim() === "") throw mustBe("q", { form: "text_to_read" });
  return text;
}

function isStatus(text: string): text is TaskStatus {
  return (TASK_STATUSES as readonly string[]).includes(text);
}
