import type { AccountId, ModelId, TaskId } from "../../domain/ids.ts";
import type { SearchStore } from "../../domain/ports/search-store.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import { parse } from "../sqlite/raw-row.ts";
import type { StoredRequest } from "../sqlite/task-store/stored-request.ts";
import { named, REMOVED, taskNumber } from "../sqlite/task-store/task-table.ts";
import { LAST_NUMBER, leastMark } from "./change-marks.ts";
import type { Connection } from "./connection.ts";
import { asRows, given } from "./given-rows.ts";
import { termsOf } from "./search-terms.ts";
import { type Session, statement } from "./session.ts";

interface Row {
  readonly number: number;
  readonly account_id: AccountId;
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly status: string;
  readonly request: string;
}

const BEGIN = statement("insert into search_state (id, indexed_to) values (1, 0) on conflict do nothing");
// Skips the work if another process is doing it.
const STATE = statement<{ at: number }>(
  "select indexed_to as at from search_state where id = 1 for update skip locked",
);
const NOTE = statement<never, [at: number]>("update search_state set indexed_to = $1 where id = 1");
const NEXT = statement<Row, [after: number, upTo: number, limit: number]>(
  `select number, ${named("account_id", "model")}, kind, status, request from task
   where number > $1 and number <= $2 order by number limit $3`,
);
// Terms have no line breaks.
const ADD = statement<never, [rows: string]>(
  `insert into task_search (number, terms) select number, string_to_array(terms, e'\\n')
   from ${given("$1", { number: "bigint", terms: "text" })} on conflict do nothing`,
);
const REMOVE_ALL = statement("truncate task_search");
const RESTART = statement("delete from search_state");
// A task that is not indexed yet, or whose indexing transaction has not ended, gets a row without terms, which stays.
const FORGET = statement<never, [id: TaskId]>(
  `with gone as (delete from task_search where number = ${taskNumber("$1")} returning number)
   insert into task_search (number, terms) select number, '{}' from task
     where id = $1 and number > (select indexed_to from search_state where id = 1) and not exists (select 1 from gone)
   on conflict (number) do update set terms = excluded.terms`,
);
const DRAWN = statement<{ number: number }>(`select ${LAST_NUMBER} as number from task_number_seq`);
const MARKS = statement<{ change: number; marked: number | null }>(
  `select ${LAST_NUMBER} as change, (${leastMark()}) as marked from task_change_number`,
);

/** The index of prompts in PostgreSQL. */
export function createSearchStore({ read, write }: Pick<Connection, "read" | "write">): SearchStore {
  const settled = prepareSettled();

  async function index(session: Session, upTo: number, limit: number): Promise<number> {
    await BEGIN.run(session);
    const state = await STATE.get(session);
    if (state === undefined) return 0;
    const rows = await NEXT.all(session, state.at, upTo, limit);
    const last = rows.at(-1);
    if (last === undefined) return 0;
    const found = rows.flatMap((row) => {
      const terms = row.status === REMOVED ? [] : termsIn(row);
      return terms.length === 0 ? [] : [{ number: row.number, terms: terms.join("\n") }];
    });
    await Promise.all([ADD.run(session, asRows(found)), NOTE.run(session, last.number)]);
    return rows.length;
  }

  return {
    async index(limit) {
      const upTo = await read(settled);
      return write((session) => index(session, upTo, limit));
    },
    clear: () =>
      write(async (session) => {
        // Waits for another process that adds to the index.
        if ((await RESTART.run(session)) > 0) await REMOVE_ALL.run(session);
      }),
  };
}

function termsIn({ number, account_id: accountId, kind, model, request }: Row): string[] {
  const { prompt } = parse<StoredRequest>(request);
  return prompt === undefined ? [] : termsOf(number, prompt, { accountId, kind, model });
}

/**
 * Returns a function that finds the number up to which no task can be added any more. Numbers of tasks are not in commit order.
 * But a transaction that draws a number first takes a mark for its changes, and a create makes a change. So when no mark is
 * left from the time at which a number was the last one, all tasks up to that number are committed.
 */
function prepareSettled(): (session: Session) => Promise<number> {
  let settled = 0;
  let last: { readonly number: number; readonly change: number } | undefined;
  return async (session) => {
    const { number } = (await DRAWN.get(session)) ?? { number: 0 };
    const { change, marked } = (await MARKS.get(session)) ?? { change: 0, marked: null };
    if (marked === null) settled = number;
    else if (last === undefined || marked > last.change) {
      settled = last?.number ?? settled;
      last = { number, change };
    }
    return settled;
  };
}

/** Removes a task from the index. */
export async function forgetPrompt(session: Session, id: TaskId): Promise<void> {
  await FORGET.run(session, id);
}
