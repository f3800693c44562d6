import type {
  FoundTasks,
  ManagedPage,
  ManagedTaskFilter,
  TaskSearch,
} from "../../../domain/ports/task-store.ts";
import { MANAGED_COLUMNS, type ManagedRow, toManagedTask } from "../../sqlite/task-store/managed.ts";
import { SUMMARY_COLUMNS, type SummaryRow, toSummary } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";
import { prepareList } from "./list.ts";
import { prepareNearest } from "./nearest.ts";
import { searchTasks } from "./search.ts";

const list = prepareList<ManagedRow>(MANAGED_COLUMNS);
const nearest = prepareNearest<ManagedRow>(MANAGED_COLUMNS);
const rowsOf = <Row>(columns: string) =>
  statement<Row, [numbers: readonly number[]]>(
    `select ${columns} from task where number = any ($1::bigint[]) order by number desc`,
  );
const MANAGED = rowsOf<ManagedRow>(MANAGED_COLUMNS);
const SUMMARIES = rowsOf<SummaryRow>(SUMMARY_COLUMNS);

/** The body of `TaskStore.managedTasks`. */
export async function managedTasks(session: Session, filter: ManagedTaskFilter): Promise<ManagedPage> {
  const { limit, text } = filter;
  if (text !== undefined) {
    const { rows, next } = await searchTasks(session, filter, text);
    return { tasks: (await MANAGED.all(session, rows)).map(toManagedTask), next };
  }
  // One more than asked for shows whether there is another page.
  const listing = { ...filter, limit: limit + 1 };
  const rows = (await nearest(session, listing)) ?? (await list(session, listing));
  const tasks = rows.slice(0, limit).map(toManagedTask);
  return { tasks, next: rows.length > limit ? tasks.at(-1)?.id : undefined };
}

/** The body of `TaskStore.search`. */
export async function search(session: Session, filter: TaskSearch): Promise<FoundTasks> {
  const { rows, next } = await searchTasks(session, filter, filter.text);
  return { tasks: (await SUMMARIES.all(session, rows)).map(toSummary), next };
}
