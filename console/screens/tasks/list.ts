import { ask } from "../../api/ask.ts";
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
}

const PAGE = 100;

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

/** The list with what a stream told of one task: in its place, whether it was there or not, or gone if it fits the filters no more. */
export function withTask({ tasks, next }: Page, task: ListedTask, filters: Filters): Page {
  // Nearly always it is near the front, however long the list.
  const place = tasks.findIndex(({ task_id }) => task_id === task.task_id);
  const fits =
    (filters.status === "" || filters.status === task.status) &&
    (filters.kind === "" || filters.kind === task.kind) &&
    (filters.model === "" || filters.model === task.model) &&
    (filters.account === "" ||
      filters.account === task.account?.id ||
      filters.account === task.account?.name);
  if (place >= 0) return { tasks: fits ? tasks.with(place, task) : tasks.toSpliced(place, 1), next };
  // Tasks are told as they change, not as they were made; those from the cursor on are on a later page.
  if (!fits || (next !== null && task.task_id <= next)) return { tasks, next };
  const after = tasks.findIndex(({ task_id }) => task_id < task.task_id);
  return { tasks: tasks.toSpliced(after < 0 ? tasks.length : after, 0, task), next };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

function oneOf<Value extends string>(values: readonly Value[], text: string): Value | undefined {
  return values.find((value) => value === text);
}
