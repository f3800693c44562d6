import type { TaskId } from "../../../domain/ids.ts";
import type { AuditDifference, NewSeal, SealedTable } from "../../../domain/ports/audit.ts";
import { type Figures, readFigures } from "./figures.ts";
import type { AuditReader } from "./reader.ts";
import { PAGE, SEAL_VERSION } from "./seal-table.ts";
import { remainder, weightOfNumberIn } from "./weights.ts";

/** Figures of pages, by their numbers. */
export type SealedPages = Readonly<Record<SealedTable, ReadonlyMap<number, Figures>>>;

/** What the database says of its pages. */
export interface Seals {
  /** Figures of sealed pages. */
  readonly pages: SealedPages;
  readonly label: Figures | undefined;
  /** By `SumName`, what an audit that found everything right had left of a sum. */
  readonly sums: Figures | undefined;
  generationOf(table: SealedTable, page: number): number;
}

const SEALED_TABLES: readonly SealedTable[] = ["task", "ledger_entry"];

interface SealRow {
  readonly tableName: NewSeal["table"];
  readonly page: number;
  readonly generation: number;
  readonly version: number;
  readonly figures: string | null;
}

export async function readSeals(reader: AuditReader): Promise<Seals> {
  const rows = await reader.all<SealRow>(
    `select table_name as "tableName", page, generation, version, figures from audit_seal`,
  );
  const figuresIn = ({ version, figures }: SealRow) =>
    figures === null || version !== SEAL_VERSION ? undefined : readFigures(figures);
  const pagesOf = (table: SealedTable) =>
    new Map(
      rows.flatMap((row) => {
        const figures = row.tableName === table ? figuresIn(row) : undefined;
        return figures === undefined ? [] : [[row.page, figures] as const];
      }),
    );
  const single = (table: "label" | "sums") => {
    const row = rows.find(({ tableName }) => tableName === table);
    return row && figuresIn(row);
  };
  const generations = new Map(rows.map((row) => [`${row.tableName} ${row.page}`, row.generation]));
  return {
    pages: { task: pagesOf("task"), ledger_entry: pagesOf("ledger_entry") },
    label: single("label"),
    sums: single("sums"),
    generationOf: (table, page) => generations.get(`${table} ${page}`) ?? 0,
  };
}

export const NO_PAGES: SealedPages = { task: new Map(), ledger_entry: new Map() };

/** Reads the rows of sealed pages. @returns the pages whose rows are what their seal says */
export async function asSealed(reader: AuditReader, pages: SealedPages): Promise<SealedPages> {
  const same = async (table: SealedTable) => {
    const now = await reader.pages(table, [...pages[table].keys()], false);
    return new Map([...pages[table]].filter(([page, figures]) => isSame(now.get(page), figures)));
  };
  return { task: await same("task"), ledger_entry: await same("ledger_entry") };
}

/**
 * Reads the rows of sealed pages.
 *
 * @param known pages whose rows are what their seal says
 * @returns of each table, the first page whose rows are not
 */
export async function brokenSeals(
  reader: AuditReader,
  { pages, label }: Seals,
  known: SealedPages,
): Promise<AuditDifference[]> {
  const broken: AuditDifference[] = [];
  for (const table of SEALED_TABLES) {
    const numbers = [...pages[table].keys()]
      .filter((page) => !known[table].has(page))
      .sort((one, other) => one - other);
    const now = await reader.pages(table, numbers, false);
    const wrong = numbers.find((page) => !isSame(now.get(page), pages[table].get(page)));
    if (wrong !== undefined)
      broken.push(
        await brokenPage(reader, {
          table,
          page: wrong,
          now: now.get(wrong),
          sealed: pages[table].get(wrong),
        }),
      );
  }
  // Tasks name what they were charged by labels.
  const isTold = broken.some(({ check }) => check === "sealed_tasks");
  const labels = label && (await labelFigures(reader, Number(label.upTo ?? 0)));
  if (!isTold && labels !== undefined && !isSame(labels, label))
    broken.push(difference("sealed_tasks", labels, label));
  return broken;
}

export const isSame = (one: Figures | undefined, other: Figures | undefined): boolean =>
  (one?.rows ?? 0n) === (other?.rows ?? 0n) && (one?.checksum ?? 0n) === (other?.checksum ?? 0n);

interface BrokenPage {
  readonly table: SealedTable;
  readonly page: number;
  readonly now: Figures | undefined;
  readonly sealed: Figures | undefined;
}

async function brokenPage(
  reader: AuditReader,
  { table, page, now, sealed }: BrokenPage,
): Promise<AuditDifference> {
  if (table === "ledger_entry") return { ...difference("sealed_entries", now, sealed), entry: page * PAGE };
  const { pairsIn, join } = reader.dialect;
  const [first] = await reader.all<{ id: TaskId }>(
    `select task.id from (${pairsIn(1)}) as span ${join} task on task.number between span.low and span.high
     order by task.number limit 1`,
    JSON.stringify([[page * PAGE, (page + 1) * PAGE - 1]]),
  );
  return { ...difference("sealed_tasks", now, sealed), taskId: first?.id };
}

const difference = (
  check: "sealed_tasks" | "sealed_entries",
  now: Figures | undefined,
  sealed: Figures | undefined,
) => ({
  check,
  stored: now?.checksum ?? 0n,
  expected: sealed?.checksum ?? 0n,
});

/** Figures of the texts up to a number that list the lines of a charge. A label is never changed or removed. */
export async function labelFigures(reader: AuditReader, upTo: number): Promise<Figures> {
  const rows = await reader.all<{ number: number; text: string }>(
    `select number, text from label where text >= '[{' and text < '[|'`,
  );
  const own = rows.filter(({ number }) => number <= upTo);
  const sum = own.reduce(
    (sum, { number, text }) => sum + weightOfNumberIn(number) * BigInt(Bun.hash.crc32(text)),
    0n,
  );
  return { upTo: BigInt(upTo), rows: BigInt(own.length), checksum: remainder(sum) };
}
