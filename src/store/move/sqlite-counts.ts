import type { Database } from "bun:sqlite";
import { IDEMPOTENCY, type MovedTable } from "./tables.ts";

/** How the rows of a table are counted. */
export function countIn(db: Database, { name }: MovedTable): number {
  const what = name === IDEMPOTENCY ? "distinct digest" : "*";
  return db.query<{ count: number }, []>(`select count(${what}) as count from "${name}"`).get()?.count ?? 0;
}
