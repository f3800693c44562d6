import { asRows, given } from "../given-rows.ts";
import { type Session, statement } from "../session.ts";

interface Row {
  readonly id: string;
  readonly name: string | null;
}

// Each name is looked up by its id. A join would read the whole table for a hundred of them.
const namesIn = (table: "account" | "api_key") =>
  statement<Row, [rows: string]>(
    `select id, (select name from ${table} where ${table}.id = given.id) as name from ${given("$1", { id: "text" })}`,
  );
const OF_ACCOUNTS = namesIn("account");
const OF_KEYS = namesIn("api_key");

type Names = ReadonlyMap<string, string>;

export async function accountNames(session: Session, ids: readonly string[]): Promise<Names> {
  return mapOf(await OF_ACCOUNTS.all(session, rowsOf(ids)));
}

export async function keyNames(session: Session, ids: readonly string[]): Promise<Names> {
  return mapOf(await OF_KEYS.all(session, rowsOf(ids)));
}

const rowsOf = (ids: readonly string[]) => asRows(ids.map((id) => ({ id })));

function mapOf(rows: readonly Row[]): Names {
  return new Map(rows.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
}
