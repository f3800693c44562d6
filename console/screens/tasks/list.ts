import { ask } from "../../api/ask.ts";
import { tailOf } from "../../api/more.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Role } from "../../api/session.ts";

type Managed = Schemas["ManagedTask"];
/** A task of the list. Whose it is, and where it was made, only operators are told. */
export type ListedTask = Schemas["ListedTask"] & Partial<Pick<Managed, "account" | "key" | "provider">>;

export const STATUSES = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export const KINDS = ["image", "video"] as const;

/** Which tasks are shown; the address has the same names. */
export interface Filters {
  readonly status: string;
  readonly kind: string;
  readonly model: string;
  readonly account: string;
}

export interface Page {
  readonly tasks: readonly ListedTask[];
  readonly next: string | null;
  /** How many the reader has read by scrolling. */
  readonly asked?: number;
}

const PAGE = 100;
/** A page that stays open for days keeps so many of what a stream told, unless its reader has read more. */
export const MOST_TOLD = 1_000;

/** A page of the tasks that the reader may see, newest first. @throws ApiProblem */
export function readTasks(
  role: Role,
  filters: Filters,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<Page> {
  const { account, model } = filters;
  const query = {
    ...{ limit: PAGE, model },
    ...given("status", oneOf(STATUSES, filters.status)),
    ...given("kind", oneOf(KINDS, filters.kind)),
    ...given("after", after),
  };
  return role === "operator"
    ? ask("GET /admin/v1/tasks", { query: { ...query, account } }, { signal })
    : ask("GET /v1/tasks", { query }, { signal });
}

/** The list with the page after it. */
export function withPage(before: Page, { tasks, next }: Page): Page {
  const all = [...before.tasks, ...tasks];
  return { tasks: all, next, asked: all.length };
}

/** The first page, read anew, with the later ones as they were: a stream tells of their changes. */
export function withTail(fresh: Page, before: Page): Page {
  const tail = tailOf(fresh.tasks, before.tasks, ({ task_id }) => task_id);
  return fresh.next === null || tail.length === 0 ? fresh : { ...before, tasks: [...fresh.tasks, ...tail] };
}

/** The list with what a stream told of one task: in its place, whether it was there or not, or gone if it fits the filters no more. */
export function withTask(page: Page, task: ListedTask, filters: Filters): Page {
  const { tasks, next, asked = 0 } = page;
  // Nearly always it is near the front, however long the list.
  const place = tasks.findIndex(({ task_id }) => task_id === task.task_id);
  const fits =
    (filters.status === "" || filters.status === task.status) &&
    (filters.kind === "" || filters.kind === task.kind) &&
    (filters.model === "" || filters.model === task.model) &&
    (filters.account === "" ||
      filters.account === task.account?.id ||
      filters.account === task.account?.name);
  if (place >= 0) return { ...page, tasks: fits ? tasks.with(place, task) : tasks.toSpliced(place, 1) };
  // Tasks are told as they change, not as they were made; those from the cursor on are on a later page.
  if (!fits || (next !== null && task.task_id <= next)) return page;
  const after = tasks.findIndex(({ task_id }) => task_id < task.task_id);
  const all = tasks.toSpliced(after < 0 ? tasks.length : after, 0, task);
  const most = Math.max(MOST_TOLD, asked);
  if (all.length <= most) return { ...page, tasks: all };
  // The oldest are read again where somebody scrolls to them.
  const kept = all.slice(0, most);
  return { ...page, tasks: kept, next: kept.at(-1)?.task_id ?? next };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

function oneOf<Value extends string>(values: readonly Value[], text: string): Value | undefined {
  return values.find((value) => value === text);
}
