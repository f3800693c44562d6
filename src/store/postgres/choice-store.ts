import type { ChoiceStore } from "../../domain/ports/choice-store.ts";
import type { Connection } from "./connection.ts";
import { statement } from "./session.ts";

const FIND = statement<{ choice: string }, [key: string, matter: string]>(
  "select choice from key_choice where key_id = $1 and matter = $2",
);
const PUT = statement<never, [key: string, matter: string, choice: string]>(
  `insert into key_choice (key_id, matter, choice) values ($1, $2, $3)
     on conflict (key_id, matter) do update set choice = excluded.choice`,
);

/** What keys have chosen, in PostgreSQL. */
export function createChoiceStore({ read, write }: Connection): ChoiceStore {
  return {
    chosen: (key, matter) => read(async (session) => (await FIND.get(session, key, matter))?.choice),
    choose: (key, matter, choice) =>
      write(async (session) => void (await PUT.run(session, key, matter, choice))),
  };
}
