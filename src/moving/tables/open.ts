import { isServerAddress, openServer } from "./remote.ts";
import { openSqlite } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

/** Opens the database of another gateway: a file of SQLite by its path, or one on a server by its address. @throws UnreadableSource */
export async function openTables(place: string): Promise<Tables> {
  if (isServerAddress(place)) return openServer(place);
  return openSqlite(place);
}
