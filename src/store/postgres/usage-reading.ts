import { runsOf } from "../sqlite/audit/reader.ts";
import { PAGE } from "../sqlite/audit/seal-table.ts";
import type { UsagePage, UsagePages } from "../sqlite/usage-pages.ts";
import { readsTasks } from "../sqlite/usage-report.ts";
import type { ReadUsage, UsageRead } from "../usage-reading.ts";
import { type SettledNumbers, settledNumbers } from "./audit-settled.ts";
import { TIMELINE } from "./commit-outcome.ts";
import type { Connection } from "./connection.ts";
import type { Readers } from "./replica.ts";
import { type Session, statement } from "./session.ts";
import { isSame, livePages, type PagesNow, pagesNow, planAnew, sumsOfPages } from "./usage-pages.ts";
import { usageReport } from "./usage-report.ts";

/**
 * Which database this is, of which server and after which start of it: what was read of it may be gone in one that takes its place, as a
 * standby that lacked the last moments, a copy of earlier, or the same after a crash that lost commits nobody waited for.
 */
const STANDING = statement<{ history: string; last: number }>(
  `select concat_ws(' ', ${TIMELINE}, (select system_identifier from pg_control_system()), pg_postmaster_start_time(),
       (select oid from pg_database where datname = current_database())) as history,
     coalesce((select max(number) from task), 0) as last`,
);

/** A database with all tasks up to a number there that ever will be, for who sees all transactions up to another. */
interface Settled extends SettledNumbers {
  readonly history: string;
}

/** What pages came to, and the first page that has tasks. */
export type PagesRead = Pick<UsageRead, "pages" | "first">;

/** Pages that one statement sums up, each for itself. Of more, the server would read all attempts where there are a million. */
const AT_ONCE = 4;

/** @param readers read the reports themselves, which may be some seconds old */
export function createUsageReading(primary: Pick<Connection, "read">, readers: Readers) {
  const settledNow = prepareSettled(primary);
  return {
    /** Sums up what was not kept, and keeps nothing: who asks waits for no more than the answer takes. */
    report: (async (query, kept = new Map()) => {
      // Where the primary cannot be asked, a replica still reads everything.
      const standing = readsTasks(query)
        ? await primary.read((session) => STANDING.get(session)).catch(() => undefined)
        : undefined;
      const keeping = standing && { kept, history: standing.history };
      const read = await readers.readAtOnce((session) => usageReport(session, query, keeping));
      return { ...read, pages: new Map() };
    }) satisfies ReadUsage,
    /**
     * Reads pages that come to the same ever after, some at a time, each time in a moment of its own.
     *
     * @param kept called before each time @param room how many characters more can be kept: nothing is read beyond that
     */
    async *pages(kept: () => UsagePages, room: () => number): AsyncGenerator<PagesRead, void> {
      const settled = await settledNow();
      if (settled === undefined) return;
      const open = await readers.readAtOnce(async (session) =>
        openPages(await pagesNow(session), kept(), settled),
      );
      for (const slice of slicesOf(open)) {
        if (room() <= 0) return;
        yield await readers.readAtOnce((session) => readSlice(session, slice, settled));
      }
    },
  };
}

/** Waits for the transactions of other writers where pages have become full since the last time. */
function prepareSettled(primary: Pick<Connection, "read">): () => Promise<Settled | undefined> {
  let settled: Settled | undefined;
  return () =>
    primary.read(async (session) => {
      const { history = "", last = 0 } = (await STANDING.get(session)) ?? {};
      if (settled?.history !== history) settled = undefined;
      if (fullPages(last) > fullPages(settled?.task ?? 0)) {
        const numbers = await settledNumbers(session);
        if (numbers !== undefined) settled = { ...numbers, history };
      }
      return settled;
    });
}

const fullPages = (last: number): number => Math.floor(last / PAGE);

/** Pages to which no task will come that this moment does not see, and of which nothing was kept that counts. */
function openPages(now: PagesNow | undefined, kept: UsagePages, settled: Settled): number[] {
  const { history, task } = settled;
  if (!now?.sees(settled)) return [];
  const open: number[] = [];
  for (let page = now.first; page <= now.last && (page + 1) * PAGE <= task; page++) {
    const before = kept.get(page);
    if (before === undefined || !isSame(before, now.generationOf(page), history)) open.push(page);
  }
  return open;
}

type Slice = readonly [first: number, last: number];

async function readSlice(session: Session, slice: Slice, settled: Settled): Promise<PagesRead> {
  const pages = new Map<number, UsagePage>();
  const now = await pagesNow(session);
  // A replica's moment may be an earlier one than that of the look at all pages.
  const open = new Set(openPages(now, new Map(), settled));
  const live = await livePages(session);
  await planAnew(session);
  for (const [page, sums] of await sumsOfPages(session, slice))
    if (now !== undefined && open.has(page) && !live.has(page))
      pages.set(page, { generation: now.generationOf(page), history: settled.history, sums });
  return { pages, first: now?.first ?? 0 };
}

/** Runs of pages, none of them too long. The newest come first: where there is no room for all, these are kept. */
function slicesOf(pages: readonly number[]): Slice[] {
  const slices = runsOf(pages).flatMap(([first, last]) =>
    Array.from(
      { length: Math.ceil((last - first + 1) / AT_ONCE) },
      (_, i): Slice => [first + i * AT_ONCE, Math.min(last, first + (i + 1) * AT_ONCE - 1)],
    ),
  );
  return slices.reverse();
}
