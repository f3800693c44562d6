import { Database } from "bun:sqlite";
import { join } from "node:path";
import { inWords } from "../../helpers/in-words.ts";

/** Reads a data folder's database beside the running server, without being able to change anything. */
export function readDatabase<Row extends object>(dataDir: string, sql: string, file = "svc.db"): Row[] {
  using db = inWords(new Database(join(dataDir, file), { readonly: true }));
  return db.query<Row, []>(sql).all();
}

/** What a refused request must leave as it was. */
export function stateOf(dataDir: string): StoredState {
  const [state] = readDatabase<StoredState>(
    dataDir,
    `SELECT (SELECT count(*) FROM task) AS tasks, (SELECT count(*) FROM asset) AS assets,
            (SELECT count(*) FROM ledger_entry) AS ledger, (SELECT count(*) FROM idempotency) AS keys,
            (SELECT total(balance_micros) FROM account) AS balance, (SELECT total(held_micros) FROM account) AS held`,
  );
  if (state === undefined) throw new Error("A query without a table gave no row.");
  return state;
}

export interface StoredState {
  readonly tasks: number;
  readonly assets: number;
  readonly ledger: number;
  readonly keys: number;
  readonly balance: number;
  readonly held: number;
}
