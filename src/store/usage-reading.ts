import type { Database } from "bun:sqlite";
import type { UsageLine, UsageQuery } from "../domain/ports/usage-store.ts";
import { createLogWait } from "./checkpoint.ts";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";
import { prepareUsagePages, type UsagePage, type UsagePages } from "./sqlite/usage-pages.ts";
import { prepareUsageReport, readsTasks } from "./sqlite/usage-report.ts";

export interface UsageRead {
  readonly lines: UsageLine[];
  /** What pages come to that were not kept, for the next report of this database. */
  readonly pages: UsagePages;
  /** The number of the first page that has tasks; 0 where that was not looked at. */
  readonly first: number;
}

/**
 * Sums up usage as it is in one moment.
 *
 * @param kept what earlier reports of this database read
 */
export type ReadUsage = (query: UsageQuery, kept?: UsagePages) => Promise<UsageRead>;

export interface UsageReading {
  readonly report: ReadUsage;
  stop(): void;
}

/**
 * Opens a database to sum up usage. A server may use it meanwhile and is not delayed; where its log has become long, the report waits
 * between pages until it was copied.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function openUsageReading(options: { path: string }): UsageReading {
  const db = openForReading(options.path);
  try {
    const report = translating(() => {
      requireMigrated(db);
      return prepareUsageReading(db, createLogWait(db));
    });
    return { report, stop: () => db.stop() };
  } catch (error) {
    db.stop();
    throw error;
  }
}

/**
 * Reads pages of tasks ahead, each in a moment of its own, so that the log can be emptied meanwhile. The one moment of the report is short:
 * it reads the last page, those with live tasks, and those that retention has changed since they were read.
 *
 * @param rest awaited before each page and before that moment: nothing is being read meanwhile
 */
export function prepareUsageReading(db: Database, rest: () => Promise<void>): ReadUsage {
  const pages = prepareUsagePages(db);
  const report = db.transaction(prepareUsageReport(db));
  const readPage = db.transaction((page: number, kept: UsagePage | undefined): UsagePage | undefined => {
    const generation = pages.generationOf(page);
    if (kept?.generation === generation || pages.hasLive(page)) return undefined;
    return { generation, sums: JSON.stringify(pages.sumsOf(page)) };
  });

  async function readAhead(all: readonly number[], kept: UsagePages): Promise<UsagePages> {
    const read = new Map<number, UsagePage>();
    // The last page is to have more tasks.
    for (const page of all.slice(0, -1)) {
      await rest();
      const summed = translating(() => readPage(page, kept.get(page)));
      if (summed !== undefined) read.set(page, summed);
    }
    return read;
  }

  return async (query, kept = new Map()) => {
    const all = readsTasks(query) ? translating(pages.all) : [];
    const read = await readAhead(all, kept);
    await rest();
    const lines = translating(() => report(query, new Map([...kept, ...read])));
    return { lines, pages: read, first: all[0] ?? 0 };
  };
}
