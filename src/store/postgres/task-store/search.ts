import type { TaskId } from "../../../domain/ids.ts";
import type { ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { hasPhrase, promptWords } from "../../../domain/task/prompt-words.ts";
import { createTurns } from "../../../toolkit/next-turn.ts";
import { parse } from "../../sqlite/raw-row.ts";
import type { StoredRequest } from "../../sqlite/task-store/stored-request.ts";
import { REMOVED } from "../../sqlite/task-store/task-table.ts";
import { type Asked, askedIn, SLICE, sliceOf, sliceTerm } from "../search-terms.ts";
import { type Session, statement } from "../session.ts";

/** Slices that one query of the index is about. Where one finds few, the next is about twice as many: that much is rare. */
const MOST_AT_ONCE = 16;
/** Slices for one page: two million tasks. */
const MOST_SLICES = 250;
/** Tasks with the words that a page looks at: their status is known of the tasks alone. */
const MOST_LOOKS = 500;

/** Of requests whose prompts are read for phrases, before others have a turn: a few milliseconds. */
const CHARACTERS_A_TURN = 16 * 1024;

interface Found {
  readonly number: number;
  /** Null where the task is not there. */
  readonly id: TaskId | null;
  readonly status: string | null;
  readonly request: string | null;
}

/** A page of tasks by their numbers, newest first. */
interface FoundPage {
  readonly rows: readonly number[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

type Looking = [
  terms: readonly string[],
  slices: readonly string[],
  before: number,
  limit: number,
  withRequest: 0 | 1,
];

// The index answers for all terms and any of the slices, so that what has the words elsewhere is not read.
const LOOK = statement<Found, Looking>(
  `with found as materialized (
     select number from task_search where terms @> $1::text[] and terms && $2::text[]),
   looked as materialized (select number from found where number < $3 order by number desc limit $4)
   select looked.number, id, status, case when $5::bigint = 1 then request end as request
   from looked left join task on task.number = looked.number order by looked.number desc`,
);
// An id that is unknown is a place among the others all the same.
const PLACE = statement<{ number: number; id: TaskId }, [id: TaskId]>(
  "select number, id from task where id <= $1 order by id desc limit 1",
);
const BELOW = statement<{ number: number }, [number: number]>(
  "select number from task_search where number < $1 order by number desc limit 1",
);
const FROM = statement<{ id: TaskId }, [number: number]>(
  "select id from task where number >= $1 order by number limit 1",
);
const BEYOND_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Finds tasks of a filter by words of their prompts. It asks the index for some slices after others, from the newest on, so that nothing
 * it does takes long, however many tasks there are and however few have the words.
 */
export async function searchTasks(
  session: Session,
  filter: ManagedTaskFilter,
  text: string,
): Promise<FoundPage> {
  const asked = askedIn(text, filter);
  if (asked === undefined) return { rows: [] };
  const { limit } = filter;
  const doesFit = prepareFits(filter, asked);
  const walk = await Walk.begin(session, filter.after);
  const rows: { number: number; id: TaskId }[] = [];
  const turns = createTurns(CHARACTERS_A_TURN);
  let looks = 0;

  /** @returns whether to look further down in the same slices, or those below */
  function take(found: Found): boolean {
    walk.before = found.number;
    looks += 1;
    if (found.id !== null && doesFit(found)) rows.push({ number: found.number, id: found.id });
    return rows.length <= limit && looks < MOST_LOOKS;
  }

  for (let isMore = true; isMore && (await walk.goesOn()); ) {
    // One more than asked for shows whether there is another page.
    const wanted = filter.status === undefined ? limit + 1 - rows.length : MOST_LOOKS - looks;
    const { found, end } = await walk.look(asked, wanted);
    for (const each of found) {
      isMore = take(each);
      if (!isMore) break;
      await turns(each.request?.length ?? 0);
    }
    if (isMore && found.length < wanted) walk.before = end;
  }
  const page = rows.slice(0, limit);
  // Where the page is not full, the next one goes on where this one stopped looking.
  const next = rows.length > limit ? page.at(-1)?.id : await walk.place();
  return { rows: page.map(({ number }) => number), next };
}

function prepareFits({ status: wanted }: ManagedTaskFilter, { phrases }: Asked): (found: Found) => boolean {
  return ({ status, request }) => {
    if (status === REMOVED || (wanted ?? status) !== status) return false;
    if (phrases.length === 0) return true;
    const words = promptWords((request === null ? undefined : parse<StoredRequest>(request).prompt) ?? "");
    return phrases.every((phrase) => hasPhrase(words, phrase));
  };
}

/** Goes down the numbers of tasks that are in the index. */
class Walk {
  /** Tasks below it were not looked at. */
  before: number;
  readonly #session: Session;
  #atOnce = 1;
  #slices = 0;

  private constructor(session: Session, before: number) {
    this.#session = session;
    this.before = before;
  }

  /** @param after the task whose place in a list, newest first, it begins after */
  static async begin(session: Session, after: TaskId | undefined): Promise<Walk> {
    if (after === undefined) return new Walk(session, BEYOND_ALL);
    const at = await PLACE.get(session, after);
    return new Walk(session, at === undefined ? 0 : at.id === after ? at.number : at.number + 1);
  }

  /** Whether there is more to look at, and it may. Passes over numbers that are missing, many in a row. */
  async goesOn(): Promise<boolean> {
    if (this.#slices >= MOST_SLICES) return false;
    const below = this.before > 1 ? await BELOW.get(this.#session, this.before) : undefined;
    this.before = (below?.number ?? 0) + 1;
    return this.before > 1;
  }

  /** The next tasks that have the terms: fewer than wanted where there are no more from `end` on. */
  async look({ terms, phrases }: Asked, wanted: number): Promise<{ found: Found[]; end: number }> {
    const highest = sliceOf(this.before - 1);
    const lowest = Math.max(0, highest - this.#atOnce + 1);
    const slices = Array.from({ length: highest - lowest + 1 }, (_, i) => sliceTerm(lowest + i));
    const withRequest = phrases.length > 0 ? 1 : 0;
    const found = await LOOK.all(this.#session, terms, slices, this.before, wanted, withRequest);
    this.#slices += slices.length;
    this.#atOnce = Math.min(MOST_AT_ONCE, this.#atOnce * 2);
    return { found, end: Math.max(1, lowest * SLICE) };
  }

  /** The task after which to go on; undefined where everything was looked at. */
  async place(): Promise<TaskId | undefined> {
    return this.before > 1 ? (await FROM.get(this.#session, this.before))?.id : undefined;
  }
}
