import { Database } from "bun:sqlite";

/** The kinds of things that operators call by a name. */
export type Named = "key" | "account" | "token";

/** A name, with a short description. */
export interface AboutName {
  readonly name: string;
  readonly about: string;
}

/** The newest names first, as SQL of either database; a limit follows. */
export const NEWEST_NAMES: Readonly<Record<Named, string>> = {
  key: "select api_key.name, account.name as about from api_key join account on account.id = account_id where revoked_at is null order by api_key.id desc",
  account: "select name, mode as about from account order by id desc",
  token: "select name, display as about from management_token where revoked_at is null order by id desc",
};

/**
 * The newest names in a database, each with a short description. Opens only this one file, and only for reading, because a
 * shell asks at each press of the Tab key.
 *
 * @throws SQLiteError if there is no file, or it has other tables
 */
export function readNames(path: string, of: Named, limit: number): AboutName[] {
  using db = new Database(path, { readonly: true, strict: true });
  return db.query<AboutName, [number]>(`${NEWEST_NAMES[of]} limit ?`).all(limit);
}
