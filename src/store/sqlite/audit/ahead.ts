import type { AuditDepth, SealedTable } from "../../../domain/ports/audit.ts";
import { areRowsRight } from "./exact.ts";
import { pagesToSeal } from "./new-seals.ts";
import { spansOf } from "./open-rows.ts";
import type { AuditReader } from "./reader.ts";
import { asSealed, isSame, NO_PAGES, readSeals, type SealedPages, type Seals } from "./seals.ts";

/*
 * Most rows of the books never change again, but for what retention changes, which says so of their page in the same transaction. So an audit
 * can read pages before its one moment, each in a moment of its own: a reader that stays keeps the log of the database from being emptied.
 * In its moment it reads what was added or changed since, and every page that was not found right.
 */

/** Pages that were found right ahead of an audit's moment. */
export interface Ahead {
  /** What the database said of pages before they were read. */
  readonly seals: Seals;
  /** Those whose rows are what their seal says. */
  readonly sealed: SealedPages;
  /** Those that have no seal, or none that counts, and whose rows were checked. */
  readonly checked: SealedPages;
}

/** @param reader each statement of which sees a moment of its own */
export async function readAhead(reader: AuditReader, depth: AuditDepth): Promise<Ahead> {
  const seals = await readSeals(reader);
  return {
    seals,
    sealed: depth === "checksums" ? await asSealed(reader, seals.pages) : NO_PAGES,
    checked: await checkPages(reader, depth === "full" ? { ...seals, pages: NO_PAGES } : seals),
  };
}

/** What is still so, by what the database says of pages in the moment of the audit. */
export function stillSo({ seals: before, sealed, checked }: Ahead, seals: Seals): Omit<Ahead, "seals"> {
  const isUntouched = (table: SealedTable, page: number) =>
    seals.generationOf(table, page) === before.generationOf(table, page);
  const isStillSealed = (table: SealedTable, page: number) =>
    isUntouched(table, page) && isSame(seals.pages[table].get(page), sealed[table].get(page));
  return { sealed: those(sealed, isStillSealed), checked: those(checked, isUntouched) };
}

async function checkPages(reader: AuditReader, seals: Seals): Promise<SealedPages> {
  const pages = await pagesToSeal(reader, seals);
  const right = { task: new Set<number>(), ledger_entry: new Set<number>() };
  for (const slice of slicesOf(pages)) {
    const spans = { task: spansOf(slice.task), ledger_entry: spansOf(slice.ledger_entry) };
    if (!(await areRowsRight(reader, spans))) continue;
    for (const page of slice.task) right.task.add(page);
    for (const page of slice.ledger_entry) right.ledger_entry.add(page);
  }
  return those(pages, (table, page) => right[table].has(page));
}

/** Each page of tasks with the entries that came at about the same time: most tasks are then looked at once. */
function slicesOf(pages: SealedPages): Readonly<Record<SealedTable, readonly number[]>>[] {
  const inOrder = (table: SealedTable) => [...pages[table].keys()].toSorted((one, other) => one - other);
  const [tasks, entries] = [inOrder("task"), inOrder("ledger_entry")];
  const count = Math.max(tasks.length, Math.ceil(entries.length / 2));
  const part = (of: readonly number[], index: number) =>
    of.slice(Math.floor((index * of.length) / count), Math.floor(((index + 1) * of.length) / count));
  return Array.from({ length: count }, (_, index) => ({
    task: part(tasks, index),
    ledger_entry: part(entries, index),
  }));
}

function those(pages: SealedPages, has: (table: SealedTable, page: number) => boolean): SealedPages {
  return {
    task: new Map([...pages.task].filter(([page]) => has("task", page))),
    ledger_entry: new Map([...pages.ledger_entry].filter(([page]) => has("ledger_entry", page))),
  };
}
