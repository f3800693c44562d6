import type { NewSeal, SealedTable } from "../../../domain/ports/audit.ts";
import { type Figures, written } from "./figures.ts";
import { type AuditReader, oneOf, type Settled } from "./reader.ts";
import { PAGE } from "./seal-table.ts";
import { labelFigures, NO_PAGES, type SealedPages, type Seals } from "./seals.ts";

/**
 * Reads the pages that are not sealed and can be: those that no further row will get, whose tasks have all ended. The page of the latest
 * row cannot.
 */
export async function pagesToSeal(reader: AuditReader, seals: Seals): Promise<SealedPages> {
  const { settled } = reader;
  if (settled === undefined) return NO_PAGES;
  const read = async (table: SealedTable) =>
    new Map(
      [...(await reader.pages(table, await completePages(reader, { table, settled, seals }), true))].filter(
        ([, { live = 0n }]) => live === 0n,
      ),
    );
  return { task: await read("task"), ledger_entry: await read("ledger_entry") };
}

async function completePages(
  reader: AuditReader,
  { table, settled, seals }: { table: SealedTable; settled: Settled; seals: Seals },
): Promise<number[]> {
  const number = table === "task" ? "number" : "id";
  const { first } = await oneOf<{ first: number }>(
    reader,
    `select coalesce(min(${number}), 0) as first from ${table}`,
  );
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE); (page + 1) * PAGE <= settled[table]; page++)
    if (!seals.pages[table].has(page)) pages.push(page);
  return pages;
}

/** The seals of pages, and what is sealed with them. */
export async function newSeals(
  reader: AuditReader,
  { seals, pages, sums }: { readonly seals: Seals; readonly pages: SealedPages; readonly sums: Figures },
): Promise<NewSeal[]> {
  const { settled } = reader;
  const ofPages = (["task", "ledger_entry"] as const).flatMap((table) =>
    [...pages[table]].map(
      ([page, figures]): NewSeal => ({
        ...{ table, page, generation: seals.generationOf(table, page) },
        figures: written(figures),
      }),
    ),
  );
  const isSealed = ofPages.length > 0 || seals.pages.task.size > 0 || seals.pages.ledger_entry.size > 0;
  if (settled === undefined || !isSealed) return [];
  const single = (table: "label" | "sums", figures: Figures, before: Figures | undefined): NewSeal[] =>
    before !== undefined && written(figures) === written(before)
      ? []
      : [{ table, page: 0, generation: 0, figures: written(figures) }];
  const label = pages.task.size > 0 ? await labelFigures(reader, settled.label) : seals.label;
  return [
    ...ofPages,
    ...single("sums", sums, seals.sums),
    ...(label === undefined ? [] : single("label", label, seals.label)),
  ];
}
