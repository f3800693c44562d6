import type { Audit, AuditDepth, SealedTable } from "../../domain/ports/audit.ts";
import type { SealStore } from "../../domain/ports/seal-store.ts";
import type { AuditDialect } from "../sqlite/audit/checks.ts";
import { type FigureRow, figuresIn, figuresOf, NUMBER_IN } from "../sqlite/audit/figures.ts";
import { type AuditReader, runsOf, type Settled } from "../sqlite/audit/reader.ts";
import { runAudit } from "../sqlite/audit/run.ts";
import { PAGE, pageOf } from "../sqlite/audit/seal-table.ts";
import { settledNumbers } from "./audit-settled.ts";
import { type Connection, openConnection } from "./connection.ts";
import { requireMigrated } from "./migrate.ts";
import { createSealStore } from "./seal-store.ts";
import { type Session, statement } from "./session.ts";

const DIALECT: AuditDialect = {
  lengthOf: (list) => `json_array_length(${list}::json)`,
  amountOf: (lines) =>
    `(select coalesce(sum((line ->> 'amount')::bigint), 0) from json_array_elements(${lines}::json) as line)`,
  tellsOf: (event, terms) => `${event} in (select json_array_elements_text(${terms}::json -> 'events'))`,
  whole: (table) => table,
  join: "join",
  parameter: "$1",
  pairsIn: (parameter) =>
    `select (pair ->> 0)::bigint as low, (pair ->> 1)::bigint as high from json_array_elements($${parameter}::text::json) as pair`,
  lower: (one, other) => `least(${one}, ${other})`,
  uncounted: `
    select coalesce((
      select max(until_at) / 86400000 from uncounted_time
      where exists (select 1 from task where stage = 'terminal' and completed_at >= from_at and completed_at < until_at)
    ), -1)`,
};

const pagesOf = (table: SealedTable, isWhole: boolean) =>
  statement<FigureRow & { readonly page: number }, [runs: string]>(
    `select ${pageOf(NUMBER_IN[table])} as page, ${figuresIn(DIALECT, table, isWhole)}
     from (${DIALECT.pairsIn(1)}) as span join ${table} on ${NUMBER_IN[table]} between span.low and span.high group by 1`,
  );
const PAGES = {
  task: [pagesOf("task", false), pagesOf("task", true)],
  ledger_entry: [pagesOf("ledger_entry", false), pagesOf("ledger_entry", true)],
} as const;

/**
 * Opens a database to check its books. The check sees a single moment, and nobody is delayed. The database finds the errors in
 * its own memory and on its disk, so only one row for each check comes here.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export async function openAudit({ url }: { readonly url: string }): Promise<Audit & SealStore> {
  const connection = openConnection({ url, connections: 1 });
  try {
    await connection.opening(() => requireMigrated(connection.driver));
  } catch (error) {
    await connection.stop();
    throw error;
  }
  const { keep } = createSealStore(connection);
  return { ...createAudit(connection), keep, stop: () => void connection.stop() };
}

/** The bodies of `Audit`. */
export function createAudit({
  read,
  readAtOnce,
}: Pick<Connection, "read" | "readAtOnce">): Pick<Audit, "run" | "examine"> {
  const audit = (depth: AuditDepth, settled: Settled | undefined) =>
    readAtOnce((session) =>
      runAudit({ dialect: DIALECT, settled, all: allOf(session), pages: pagesIn(session) }, depth),
    );
  return {
    run: async (depth = "checksums") => (await audit(depth, undefined)).report,
    examine: async (depth = "checksums") => audit(depth, await read(settledNumbers)),
  };
}

const allOf =
  (session: Session): AuditReader["all"] =>
  <Row>(text: string, ...parameters: readonly string[]) =>
    statement<Row, readonly string[]>(text).all(session, ...parameters);

const pagesIn =
  (session: Session): AuditReader["pages"] =>
  async (table, pages, isWhole) => {
    const runs = runsOf(pages).map(([first, last]) => [first * PAGE, (last + 1) * PAGE - 1]);
    const rows = await PAGES[table][isWhole ? 1 : 0].all(session, JSON.stringify(runs));
    return new Map(rows.map(({ page, ...figures }) => [page, figuresOf(figures)]));
  };
