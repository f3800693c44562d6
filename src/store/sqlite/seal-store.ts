import type { Database } from "bun:sqlite";
import type { NewSeal, SealedTable } from "../../domain/ports/audit.ts";
import type { SealStore } from "../../domain/ports/seal-store.ts";
import { pageOf, SEAL_VERSION } from "./audit/seal-table.ts";
import type { Connection } from "./connection.ts";

/** Seals of audits in SQLite. */
export function createSealStore({ db, write }: Pick<Connection, "db" | "write">): SealStore {
  const keep = prepareKeep(db);
  return { keep: (seals) => write(() => keep(seals)) };
}

/** Returns the body of `SealStore.keep`. */
export function prepareKeep(db: Database): (seals: readonly NewSeal[]) => void {
  const insert = db.prepare<
    never,
    [table: string, page: number, generation: number, version: number, figures: string]
  >(
    `insert into audit_seal (table_name, page, generation, version, figures) values (?, ?, ?, ?, ?)
     on conflict do update set version = excluded.version, figures = excluded.figures
     where audit_seal.generation = excluded.generation`,
  );
  return (seals) => {
    for (const { table, page, generation, figures } of seals)
      insert.run(table, page, generation, SEAL_VERSION, figures);
  };
}

/** Returns a function that breaks the seal of a row's page, in the transaction that changes the row. */
export function prepareBreakSeal(db: Database): (table: SealedTable, number: number) => void {
  const broken = db.prepare<never, [table: string, number: number, version: number]>(
    `insert into audit_seal (table_name, page, generation, version, figures) values (?, ${pageOf("?")}, 1, ?, null)
     on conflict do update set generation = generation + 1, figures = null`,
  );
  return (table, number) => void broken.run(table, number, SEAL_VERSION);
}
