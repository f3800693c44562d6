import type { Database } from "bun:sqlite";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";

/** Returns a function that reads the names of accounts or keys by their ids. */
export function prepareNames(db: Database, table: "account" | "api_key") {
  const statements = madeAtUse({
    names: () =>
      db.prepare<{ id: string; name: string }, [ids: string]>(
        `select ${table}.id, name from json_each(?) as given cross join ${table} on ${table}.id = given.value`,
      ),
  });
  return (ids: readonly string[]): ReadonlyMap<string, string> =>
    new Map(statements.names.all(JSON.stringify(ids)).map(({ id, name }) => [id, name]));
}
