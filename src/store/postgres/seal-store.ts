import type { SealedTable } from "../../domain/ports/audit.ts";
import type { SealStore } from "../../domain/ports/seal-store.ts";
import { pageOf, SEAL_VERSION } from "../sqlite/audit/seal-table.ts";
import type { Connection } from "./connection.ts";
import { type Session, statement } from "./session.ts";

// One statement, in one order: two audits that end at once wait for each other, and do not block each other.
const KEEP = statement<never, [seals: string, version: number]>(
  `insert into audit_seal (table_name, page, generation, version, figures)
   select given."table", given.page, given.generation, $2::bigint, given.figures
   from json_to_recordset($1::text::json) as given ("table" text, page bigint, generation bigint, figures text)
   order by given."table", given.page
   on conflict (table_name, page) do update set version = excluded.version, figures = excluded.figures
   where audit_seal.generation = excluded.generation`,
);
const BREAK = statement<never, [table: string, number: number, version: number]>(
  `insert into audit_seal (table_name, page, generation, version, figures) values ($1, ${pageOf("$2::bigint")}, 1, $3, null)
   on conflict (table_name, page) do update set generation = audit_seal.generation + 1, figures = null`,
);

/** Seals of audits in PostgreSQL. */
export function createSealStore({ write }: Pick<Connection, "write">): SealStore {
  return {
    keep: async (seals) => {
      if (seals.length > 0) await write((session) => KEEP.run(session, JSON.stringify(seals), SEAL_VERSION));
    },
  };
}

/** Breaks the seal of a row's page, in the transaction that changes the row. */
export async function breakSeal(session: Session, table: SealedTable, number: number): Promise<void> {
  await BREAK.run(session, table, number, SEAL_VERSION);
}
