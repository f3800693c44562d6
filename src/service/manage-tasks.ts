import type { Actor } from "../domain/access/actor.ts";
import { mustBe } from "../domain/errors.ts";
import { isId, type ModelId } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { ManagedPage, TaskStore } from "../domain/ports/task-store.ts";
import type { FamilyPage } from "../domain/task/family.ts";
import type { TaskKind } from "../domain/task/request.ts";
import type { TaskStatus } from "../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "./cancel-task.ts";
import { searchText } from "./list-tasks.ts";
import { notFound } from "./management.ts";
import { type FamilyQuery, readFamily } from "./read-family.ts";
import { findStory, type StoryReading } from "./read-story.ts";
import { findTrace, type TraceReading } from "./read-trace.ts";

export interface ManageTasksDeps extends CancelTaskDeps {
  readonly tasks: TaskStore;
  readonly accounts: Pick<AccountStore, "account">;
  /** Whether prompts are indexed. */
  readonly searchesPrompts: boolean;
}

/** The tasks that an operator selects. */
export interface ManagedTaskQuery {
  /** Id or name; all accounts unless given. */
  readonly account?: string | undefined;
  readonly kind?: TaskKind | undefined;
  readonly status?: TaskStatus | undefined;
  readonly model?: string | undefined;
  /** Words that their prompts contain. */
  readonly q?: string | undefined;
  /** ≥ 1. */
  readonly limit: number;
  readonly after?: string | undefined;
}

/** What an operator can do with the tasks of all accounts. */
export function createManageTasks(deps: ManageTasksDeps) {
  const read = async (id: string): Promise<StoryReading> =>
    (await findStory(deps, id)) ?? notFound("task", id);
  return {
    /** Newest first. @throws AppError `not_found` for the account, `invalid_request` for the cursor and the words */
    async list({ account, model, after, q, ...query }: ManagedTaskQuery): Promise<ManagedPage> {
      if (after !== undefined && !isId("task", after)) throw mustBe("after", { form: "cursor" }, after);
      const found = account === undefined ? undefined : await deps.accounts.account(account);
      if (account !== undefined && found === undefined) notFound("account", account);
      // An id that no model has finds no tasks.
      return deps.tasks.managedTasks({
        ...query,
        after,
        accountId: found?.id,
        text: q === undefined ? undefined : searchText(deps, q),
        model: model as ModelId | undefined,
      });
    },
    /** @throws AppError `not_found` */
    read,
    /** @throws AppError `not_found` */
    trace: async (id: string): Promise<TraceReading> => (await findTrace(deps, id)) ?? notFound("task", id),
    /** Part of the task's family, as its owner reads it. @throws AppError `not_found`; `invalid_request` for the cursor */
    async family(id: string, page: FamilyQuery): Promise<FamilyPage> {
      const { account, task } = await read(id);
      return readFamily(deps, { accountId: account.id }, task.id, page);
    },
    /** Cancels a task as its owner would. @throws AppError `not_found`, `task_not_cancellable` */
    async cancel(id: string, actor: Actor): Promise<StoryReading> {
      const { task } = await read(id);
      await cancelTask(deps, task, task.id, { actor, at: deps.clock.now() });
      return read(id);
    },
  };
}
export type ManageTasks = ReturnType<typeof createManageTasks>;
