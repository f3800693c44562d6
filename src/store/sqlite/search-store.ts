import type { Database } from "bun:sqlite";
import type { AccountId, ModelId } from "../../domain/ids.ts";
import type { SearchStore } from "../../domain/ports/search-store.ts";
import { promptWords } from "../../domain/task/prompt-words.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { Connection } from "./connection.ts";
import { named, REMOVED, taskNumber } from "./task-store/task-table.ts";

/**
 * Pages that one call merges at most, so that it holds nobody up: about a millisecond. The index merges nothing by itself
 * (https://sqlite.org/fts5.html#the_merge_command, checked 2026-11-23).
 */
const MERGED_PAGES = 16;

interface Row {
  readonly number: number;
  readonly account_id: AccountId;
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly status: string;
  readonly prompt: string | null;
}

/** The words by which the tasks of an account, a kind and a model are found. */
export function tagsOf(of: {
  readonly accountId?: AccountId | undefined;
  readonly kind?: TaskKind | undefined;
  readonly model?: ModelId | undefined;
}): string[] {
  // The tokenizer takes letters and digits for a word, and nothing else.
  const model = of.model === undefined ? undefined : Buffer.from(of.model).toString("hex");
  return [
    ...(of.accountId === undefined ? [] : [of.accountId.replace("_", "")]),
    ...(of.kind === undefined ? [] : [`kind${of.kind}`]),
    ...(model === undefined ? [] : [`model${model}`]),
  ];
}

/** The index of prompts in SQLite. Each write is one operation of the connection's group commit. */
export function createSearchStore({ db, write }: Connection): SearchStore {
  const state = db.prepare<{ at: number }, []>("select indexed_to as at from search_state where id = 1");
  const note = db.prepare<never, [at: number]>(
    "insert into search_state (id, indexed_to) values (1, ?) on conflict (id) do update set indexed_to = excluded.indexed_to",
  );
  const next = db.prepare<Row, [after: number, limit: number]>(
    `select number, ${named("account_id", "model")}, kind, status, request ->> '$.prompt' as prompt from task
     where number > ? order by number limit ?`,
  );
  const add = db.prepare<never, [row: number, words: string, tags: string]>(
    "insert into task_search (rowid, words, tags) values (?, ?, ?)",
  );
  const merge = db.prepare<never, [pages: number]>(
    "insert into task_search (task_search, rank) values ('merge', ?)",
  );
  const removeAll = db.prepare("insert into task_search (task_search) values ('delete-all')");
  const forget = db.prepare("delete from search_state where id = 1");

  function index(limit: number): number {
    const rows = next.all(state.get()?.at ?? 0, limit);
    for (const { number, account_id: accountId, kind, model, status, prompt } of rows) {
      const words = status === REMOVED || prompt === null ? [] : promptWords(prompt);
      if (words.length > 0) add.run(number, words.join(" "), tagsOf({ accountId, kind, model }).join(" "));
    }
    const last = rows.at(-1);
    if (last === undefined) return 0;
    note.run(last.number);
    merge.run(MERGED_PAGES);
    return rows.length;
  }

  return {
    index: (limit) => write(() => index(limit)),
    clear: () =>
      write(() => {
        if (state.get() === null) return;
        removeAll.run();
        forget.run();
      }),
  };
}

/** Returns a function that removes a task from the index. */
export function prepareForget(db: Database): (id: string) => void {
  const remove = db.prepare<never, [id: string]>(`delete from task_search where rowid = ${taskNumber("?")}`);
  return (id) => void remove.run(id);
}
