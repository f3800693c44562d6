import type { UsageLine, UsageQuery, UsageStore } from "../domain/ports/usage-store.ts";
import type { UsagePages } from "../store/sqlite/usage-pages.ts";
import type { UsageRead } from "../store/usage-reading.ts";
import { createSlots } from "../toolkit/slots.ts";
import { createKeptPages } from "./kept-usage-pages.ts";

/** What reports take from those before. */
export interface KeptUsage {
  pages(): UsagePages;
  /** How many characters more can be kept. */
  room(): number;
}

export interface UsageReader {
  read(query: UsageQuery, kept: KeptUsage): Promise<UsageRead>;
  /** Reads more pages to keep once a report has its answer, some at a time. Nobody waits for it. */
  readOn?(kept: KeptUsage): AsyncIterable<Pick<UsageRead, "pages" | "first">>;
}

/**
 * Reads reports of usage, a few at a time, and keeps what pages of ended tasks come to. Equal questions share an answer. Accounts take
 * turns: whoever asks for very many waits, and nobody waits for them.
 */
export function createUsageReports(slots: number, { read, readOn }: UsageReader): UsageStore["report"] {
  const kept = createKeptPages();
  const keptSoFar: KeptUsage = { pages: kept.all, room: kept.room };
  const turns = createSlots(slots);
  const reports = new Map<string, Promise<UsageLine[]>>();
  let readingOn: Promise<void> | undefined;

  async function readAndKeep(query: UsageQuery): Promise<UsageLine[]> {
    const found = await read(query, keptSoFar);
    kept.keep(found);
    // What keeps it from reading fails the next report too, which tells of it and begins again.
    readingOn ??= keepMore()
      .catch(() => {})
      .finally(() => (readingOn = undefined));
    return found.lines;
  }

  async function keepMore(): Promise<void> {
    for await (const found of readOn?.(keptSoFar) ?? []) kept.keep(found);
  }

  return (query) =>
    reports.getOrInsertComputed(JSON.stringify(query), (name) =>
      turns.run(() => readAndKeep(query), query.accountId).finally(() => reports.delete(name)),
    );
}
