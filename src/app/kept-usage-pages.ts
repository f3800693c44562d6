import type { UsagePage, UsagePages } from "../store/sqlite/usage-pages.ts";
import type { UsageRead } from "../store/usage-reading.ts";

/** Characters of what pages of tasks come to. Those that find no room are read again for each report. */
const MOST_KEPT = 16 * 2 ** 20;

/** Keeps what pages of tasks came to when reports read them, as far as there is room. */
export function createKeptPages(most = MOST_KEPT) {
  const kept = new Map<number, UsagePage>();
  let characters = 0;
  let isFull = false;

  function forget(number: number, { sums }: UsagePage): void {
    kept.delete(number);
    characters -= sums.length;
    isFull = false;
  }

  return {
    all: (): UsagePages => kept,
    /** How many characters more can be kept; none once a page has found no room, until another one goes. */
    room: (): number => (isFull ? 0 : most - characters),
    keep({ pages, first }: Pick<UsageRead, "pages" | "first">): void {
      for (const [number, page] of kept) if (number < first || pages.has(number)) forget(number, page);
      for (const [number, page] of pages) {
        if (characters + page.sums.length > most) {
          isFull = true;
          continue;
        }
        kept.set(number, page);
        characters += page.sums.length;
      }
    },
  };
}
