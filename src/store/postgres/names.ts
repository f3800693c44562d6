import { type AboutName, type Named, NEWEST_NAMES } from "../names.ts";
import { openConnection } from "./connection.ts";
import { statement } from "./session.ts";

/** Like `readNames`, for a database that nodes share. @throws StorageError when it cannot be read */
export async function readSharedNames(url: string, of: Named, limit: number): Promise<AboutName[]> {
  const newest = statement<AboutName, [limit: number]>(`${NEWEST_NAMES[of]} limit $1`);
  const connection = openConnection({ url, connections: 1 });
  try {
    return await connection.read((session) => newest.all(session, limit));
  } finally {
    await connection.stop();
  }
}
