import type { ChoiceStore } from "../../domain/ports/choice-store.ts";
import type { Connection } from "./connection.ts";

/** What keys have chosen, in SQLite. */
export function createChoiceStore({ db, read, write }: Connection): ChoiceStore {
  const find = db.prepare<{ choice: string }, [string, string]>(
    "select choice from key_choice where key_id = ? and matter = ?",
  );
  const put = db.prepare(
    `insert into key_choice (key_id, matter, choice) values (?, ?, ?)
       on conflict (key_id, matter) do update set choice = excluded.choice`,
  );
  return {
    chosen: async (key, matter) => read(() => find.get(key, matter)?.choice),
    choose: (key, matter, choice) => write(() => void put.run(key, matter, choice)),
  };
}
