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

/**
 * Reads reports of usage, a few at a time, and keeps what pages of ended tasks come to. Equal questions share an answer. Accounts take
 * turns: whoever asks for very many waits, and nobody waits for them.
 */
export function createUsageReports(
  slots: number,
  read: (query: UsageQuery, kept: KeptUsage) => Promise<UsageRead>,
): UsageStore["report"] {
  const kept = createKeptPages();
  const turns = createSlots(slots);
  const reports = new Map<string, Promise<UsageLine[]>>();

  async function readAndKeep(query: UsageQuery): Promise<UsageLine[]> {
    const found = await read(query, { pages: kept.all, room: kept.room });
    kept.keep(found);
    return found.lines;
  }

  return (query) =>
    reports.getOrInsertComputed(JSON.stringify(query), (name) =>
      turns.run(() => readAndKeep(query), query.accountId).finally(() => reports.delete(name)),
    );
}
