import type { createUsageReading } from "../../../src/store/postgres/usage-reading.ts";
import type { UsagePage } from "../../../src/store/sqlite/usage-pages.ts";
import type { ReadUsage } from "../../../src/store/usage-reading.ts";

/** Reports as a node makes them, whose pages are read once a report has its answer. @param room how many characters can be kept */
export function readingOn(usage: ReturnType<typeof createUsageReading>, room = 1_000_000): ReadUsage {
  return async (query, kept = new Map()) => {
    const read = await usage.report(query, kept);
    const pages = new Map<number, UsagePage>();
    for await (const more of usage.pages(
      () => kept,
      () => room,
    ))
      for (const [number, page] of more.pages) pages.set(number, page);
    return { ...read, pages };
  };
}
