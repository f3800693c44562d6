import type { Database } from "bun:sqlite";
import type { Audit, AuditDepth, AuditOutcome, SealedTable } from "../../domain/ports/audit.ts";
import { readAhead } from "./audit/ahead.ts";
import type { AuditDialect } from "./audit/checks.ts";
import { type FigureRow, type Figures, figuresIn, figuresOf, NUMBER_IN } from "./audit/figures.ts";
import type { AuditReader, Settled } from "./audit/reader.ts";
import { runAudit } from "./audit/run.ts";
import { PAGE } from "./audit/seal-table.ts";
import { translating } from "./errors.ts";

const DIALECT: AuditDialect = {
  lengthOf: (list) => `json_array_length(${list})`,
  // Most charges have one line, which need not be summed up.
  amountOf: (lines) =>
    `case when json_array_length(${lines}) = 1 then coalesce(${lines} ->> '$[0].amount', 0)
       else (select coalesce(sum(value ->> '$.amount'), 0) from json_each(${lines})) end`,
  tellsOf: (event, terms) => `${event} in (select value from json_each(${terms}, '$.events'))`,
  whole: (table) => `main.${table}`,
  join: "cross join",
  parameter: "?1",
  pairsIn: (parameter) => `select value ->> 0 as low, value ->> 1 as high from json_each(?${parameter})`,
  lower: (one, other) => `min(${one}, ${other})`,
  uncounted: `
    select iif(exists (
      select 1 from task where stage = 'terminal' and completed_at >= made.applied_at and completed_at < counted.applied_at
    ), counted.applied_at / 86400000, -1)
    from schema_migration as made cross join schema_migration as counted on counted.number = 2
    where made.number = 1`,
};

/** Only one process writes, so rows come in the order of their numbers. */
const SETTLED = `select (select coalesce(max(number), 0) from task) as task, (select coalesce(max(id), 0) from ledger_entry) as ledger_entry,
  (select coalesce(max(number), 0) from label) as label`;

/**
 * The bodies of `Audit`. They throw StorageError.
 *
 * @param rest awaited before each statement that is not in the one moment of the audit: nothing is being read meanwhile. Without it
 *   everything is read in that moment, which takes less
 */
export function prepareAudit(db: Database, rest?: () => Promise<void>): Pick<Audit, "run" | "examine"> {
  const pages = preparePages(db);

  function reading(settled: Settled | undefined, pause: () => Promise<void>): AuditReader {
    return {
      ...{ dialect: DIALECT, settled },
      async all<Row>(text: string, ...parameters: readonly string[]) {
        await pause();
        return translating(() => db.prepare<Row, string[]>(text).all(...parameters));
      },
      async pages(table, numbers, isWhole) {
        const found = new Map<number, Figures>();
        for (const page of numbers) {
          await pause();
          const figures = translating(() => pages(table, page, isWhole));
          if (figures !== undefined) found.set(page, figures);
        }
        return found;
      },
    };
  }

  const settledNow = () => translating(() => db.prepare<Settled, []>(SETTLED).get() ?? undefined);

  async function audit(depth: AuditDepth, isToBeSealed: boolean): Promise<AuditOutcome> {
    const settled = () => (isToBeSealed ? settledNow() : undefined);
    const ahead = rest && (await readAhead(reading(settled(), rest), depth));
    // Every statement reads the state that the first one saw.
    translating(() => db.run("begin"));
    try {
      return await runAudit(
        reading(settled(), async () => {}),
        depth,
        ahead,
      );
    } finally {
      db.run("rollback");
    }
  }

  return {
    run: async (depth = "checksums") => (await audit(depth, false)).report,
    examine: (depth = "checksums") => audit(depth, true),
  };
}

/** One page after the other: a statement about all of them would sort their rows. @returns undefined for a page without rows */
function preparePages(
  db: Database,
): (table: SealedTable, page: number, isWhole: boolean) => Figures | undefined {
  const prepare = (table: SealedTable, isWhole: boolean) =>
    db.prepare<FigureRow, [low: number, high: number]>(
      `select ${figuresIn(DIALECT, table, isWhole)} from ${table} where ${NUMBER_IN[table]} between ? and ?`,
    );
  const prepared = {
    task: [prepare("task", false), prepare("task", true)],
    ledger_entry: [prepare("ledger_entry", false), prepare("ledger_entry", true)],
  } as const;
  return (table, page, isWhole) => {
    const row = prepared[table][isWhole ? 1 : 0].get(page * PAGE, (page + 1) * PAGE - 1);
    return row === null || row.rows === 0 ? undefined : figuresOf(row);
  };
}
