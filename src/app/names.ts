import { type AboutName, type Named, readNames } from "../store/names.ts";
import { databaseOf } from "./data-folder.ts";
import type { Stored } from "./local-store.ts";

/**
 * The newest names of a data folder or of the database of its settings, with a word about each: for shells that complete them. Changes
 * nothing.
 *
 * @throws Error when there is no data, or it is of another version
 */
export async function namesIn(config: Stored, of: Named, limit: number): Promise<readonly AboutName[]> {
  if (config.database === undefined) return readNames(databaseOf(config), of, limit);
  const { readSharedNames } = await import("../store/postgres/names.ts");
  return readSharedNames(config.database.reveal(), of, limit);
}
