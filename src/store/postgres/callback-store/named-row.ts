import type { callback } from "../../sqlite/callback-store/callback-table.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";

/** A callback with the names of its owners; null if they were removed. */
export type NamedRow = RawRow<typeof callback> & {
  readonly account_name: string | null;
  readonly key_name: string | null;
};
/** The columns of `NamedRow`, as SQL. */
export const COLUMNS = `callback.*, (select name from account where account.id = account_id) as account_name,
  (select name from api_key where api_key.id = key_id) as key_name`;
