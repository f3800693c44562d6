import { type Named, readNames } from "../store/names.ts";
import { databaseOf, type Folder } from "./data-folder.ts";

/**
 * The newest names of a data folder, with a word about each: for shells that complete them. Changes nothing and waits for nobody.
 *
 * @throws SQLiteError when there is no data, or it is of another version
 */
export function namesIn(folder: Folder, of: Named, limit: number) {
  return readNames(databaseOf(folder), of, limit);
}
