import type { Database } from "bun:sqlite";
import type { TaskId } from "../../../domain/ids.ts";
import type { ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { searchPhrases } from "../../../domain/task/prompt-words.ts";
import { nextTurn } from "../../../toolkit/next-turn.ts";
import type { Connection } from "../connection.ts";
import { tagsOf } from "../search-store.ts";
import { REMOVED } from "./task-table.ts";

/** Rows per query of the index, which takes a few milliseconds at most. Other work runs after each. */
const SLICE = 20_000;
/** Slices for one page: two million tasks. */
const MOST_SLICES = 100;
/** Tasks with the words that a page looks at: their status is known of the tasks alone. */
const MOST_LOOKS = 500;

interface Found {
  readonly id: TaskId;
  readonly status: string;
}

/** A page of rows, newest first. */
interface FoundPage {
  readonly rows: readonly number[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

export type SearchTasks = ReturnType<typeof prepareSearch>;

/**
 * Returns a function that finds tasks of a filter by words of their prompts. It asks the index for one slice of rows after the other, from the
 * newest on, so that nothing it does takes long, however many tasks there are and however few have the words.
 */
export function prepareSearch(connection: Pick<Connection, "db" | "look">) {
  const { db, look } = connection;
  const matches = db.prepare<
    { rowid: number },
    [query: string, least: number, before: number, limit: number]
  >(
    `select rowid from task_search where task_search match ? and rowid >= ? and rowid < ?
     order by rowid desc limit ?`,
  );
  const taskOf = db.prepare<Found, [row: number]>("select id, status from task where number = ?");
  const places = preparePlaces(db);

  return async (filter: ManagedTaskFilter, text: string): Promise<FoundPage> => {
    const query = expressionOf(filter, text);
    if (query === undefined) return { rows: [] };
    const { limit, status } = filter;
    const rows: { row: number; id: TaskId }[] = [];
    let [before, looks] = [look(() => places.before(filter.after)), 0];

    /** Takes what the index has below `before`. @returns whether to look further down */
    function take(least: number): boolean {
      // One more than asked for shows whether there is another page.
      const wanted = status === undefined ? limit + 1 - rows.length : MOST_LOOKS;
      const found = matches.all(query ?? "", least, before, wanted);
      for (const { rowid } of found) {
        const task = taskOf.get(rowid);
        before = rowid;
        looks += 1;
        const fits = task !== null && task.status !== REMOVED && (status ?? task.status) === task.status;
        if (fits) rows.push({ row: rowid, id: task.id });
        if (rows.length > limit || looks >= MOST_LOOKS) return false;
      }
      if (found.length < wanted) before = least;
      return before > 1;
    }

    let isMore = before > 1;
    for (let slice = 0; isMore && slice < MOST_SLICES; slice += 1) {
      if (slice > 0) await nextTurn();
      isMore = look(() => {
        // Numbers may be missing, many in a row: those of removed tasks that became parts of sums.
        before = places.afterNextBelow(before);
        return take(Math.max(1, before - SLICE));
      });
    }
    return look(() => {
      const page = rows.slice(0, limit);
      // Where the page is not full, the next one goes on where this one stopped looking.
      const last = rows.length > limit ? page.at(-1)?.id : before > 1 ? places.idFrom(before) : undefined;
      return { rows: page.map(({ row }) => row), next: last };
    });
  };
}

/** Places among the numbers of tasks, of which some may be missing. */
function preparePlaces(db: Database) {
  // An id that is unknown is a place among the others all the same.
  const place = db.prepare<{ number: number; id: TaskId }, [id: string]>(
    "select number, id from task where id <= ? order by id desc limit 1",
  );
  const newest = db.prepare<{ number: number }, []>("select max(number) as number from task");
  const below = db.prepare<{ number: number | null }, [number: number]>(
    "select max(number) as number from task where number < ?",
  );
  const from = db.prepare<Pick<Found, "id">, [number: number]>(
    "select id from task where number >= ? order by number limit 1",
  );
  return {
    /** Tasks below this number come after a task in a list, newest first; all of them unless it is given. */
    before(after: TaskId | undefined): number {
      if (after === undefined) return (newest.get()?.number ?? 0) + 1;
      const at = place.get(after);
      if (at === null) return 0;
      return at.id === after ? at.number : at.number + 1;
    },
    /** The number that follows the highest one below another; 1 where there is none. */
    afterNextBelow: (number: number): number => (below.get(number)?.number ?? 0) + 1,
    idFrom: (number: number): TaskId | undefined => from.get(number)?.id,
  };
}

/** What is asked of the index: text in quotes, between words of its own. Undefined for what nothing has. */
function expressionOf(filter: ManagedTaskFilter, text: string): string | undefined {
  const phrases = searchPhrases(text);
  if (phrases.length === 0) return undefined;
  // No word has a quote in it: they are letters, digits and pictures.
  const words = phrases.map((phrase) => `"${phrase.join(" ")}"`).join(" AND ");
  const tags = tagsOf(filter).map((tag) => `"${tag}"`);
  return tags.length === 0 ? `words : (${words})` : `tags : (${tags.join(" AND ")}) AND words : (${words})`;
}
