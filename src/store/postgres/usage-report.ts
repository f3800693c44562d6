import type { UsageQuery } from "../../domain/ports/usage-store.ts";
import { createTurns } from "../../toolkit/next-turn.ts";
import { runsOf } from "../sqlite/audit/reader.ts";
import { PAGE, pageOf } from "../sqlite/audit/seal-table.ts";
import type { UsagePage, UsagePages } from "../sqlite/usage-pages.ts";
import {
  linesOf,
  linesWithoutCosts,
  type Range,
  type Repeated,
  readsTasks,
  reportStatements,
  type Spent,
  type Totals,
} from "../sqlite/usage-report.ts";
import { createUsageSums } from "../sqlite/usage-sums.ts";
import type { UsageRead } from "../usage-reading.ts";
import { type Session, statement } from "./session.ts";
import { livePages, sumsAskedFor, sumsOfPages } from "./usage-pages.ts";

/** What a report may take from earlier ones, and which pages are worth keeping. */
export interface Keeping {
  readonly kept: UsagePages;
  /** How many characters more can be kept. */
  readonly room: number;
  /** Of the database, as `UsagePage` has it. */
  readonly history: string;
  /** All tasks up to this number are there that ever will be, for who sees all transactions up to the other number. */
  readonly settled: { readonly task: number; readonly xid: string } | undefined;
}

const DIALECT = {
  ...{ account: "$1::text", from: "$2::bigint", to: "$3::bigint" },
  sums: "json_array_elements($4::text::json) as each (value)",
  numberAt: (position: number) => `(value ->> ${position})::bigint`,
};

type WithSums = [...Range, sums: string];

function prepareSplit(split: Pick<UsageQuery, "by" | "and">) {
  const { isByProvider, ...texts } = reportStatements(DIALECT, split);
  const lines = statement<Totals, Range | WithSums>(texts.lines);
  return {
    lines: (session: Session, range: Range, sums: string) =>
      isByProvider ? lines.all(session, ...range, sums) : lines.all(session, ...range),
    costs: statement<Spent, WithSums>(texts.costs),
    repeats: statement<Repeated, WithSums>(texts.repeats),
  };
}

/** Until the end of the transaction. A plan that serves all ranges takes each for a small one, and seeks what it should read in one go. */
const PLAN_ANEW = statement("select set_config('plan_cache_mode', 'force_custom_plan', true) as planned");

const known = new Map<string, ReturnType<typeof prepareSplit>>();

/**
 * The body of `UsageStore.report`, for a session that sees one moment.
 *
 * @param keeping what pages came to before, which counts where it is still the same; without it, all tasks are read
 */
export async function usageReport(
  session: Session,
  query: UsageQuery,
  keeping?: Keeping,
): Promise<UsageRead> {
  const { accountId, from, to, by, and, isWithoutCosts = false } = query;
  const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit({ by, and }));
  const range: Range = [accountId ?? null, from, to];
  await PLAN_ANEW.run(session);
  const { sums, ...read } = readsTasks(query) ? await readPages(session, query, keeping) : NOTHING_READ;
  const lines = await statements.lines(session, range, sums);
  if (isWithoutCosts) return { ...read, lines: linesWithoutCosts(lines) };
  const costs = await statements.costs.all(session, ...range, sums);
  const repeats = await statements.repeats.all(session, ...range, sums);
  return { ...read, lines: linesOf(lines, costs, repeats) };
}

interface PagesRead extends Omit<UsageRead, "lines"> {
  /** Of all tasks, as JSON. */
  readonly sums: string;
}

const NOTHING_READ: PagesRead = { sums: "[]", pages: new Map(), first: 0 };

interface Moment {
  readonly first: number | null;
  readonly last: number | null;
  /** Every transaction with a lower number has ended. */
  readonly xmin: string;
  /** By page, as JSON. */
  readonly generations: string;
}

const MOMENT = statement<Moment>(
  `select (select ${pageOf("min(number)")} from task) as first, (select ${pageOf("max(number)")} from task) as last,
     pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
     (select coalesce(json_object_agg(page, generation), '{}')::text from audit_seal
       where table_name = 'task' and generation > 0) as generations`,
);

/** Pages that one statement sums up, each for itself. Of more, the server would read all attempts where there are a million. */
const AT_ONCE = 4;

async function readPages(session: Session, query: UsageQuery, keeping?: Keeping): Promise<PagesRead> {
  const moment = await MOMENT.get(session);
  if (moment?.first == null || moment.last == null) return NOTHING_READ;
  const generationOf = generationsIn(moment);
  const sums = createUsageSums(query);
  const turn = createTurns();
  /** Takes a while for many pages, and this is the thread that answers requests. */
  const add = (text: string) => {
    sums.add(JSON.parse(text));
    return turn(text.length);
  };
  const open: number[] = [];
  for (let page = moment.first; page <= moment.last; page++) {
    const before = keeping?.kept.get(page);
    const isSame = before?.generation === generationOf(page) && before.history === keeping?.history;
    if (before === undefined || !isSame) open.push(page);
    else await add(before.sums);
  }
  const pages = new Map<number, UsagePage>();
  if (keeping !== undefined) {
    for await (const [page, text] of pagesToKeep(session, { open, moment, keeping })) {
      pages.set(page, { generation: generationOf(page), history: keeping.history, sums: text });
      await add(text);
    }
  }
  for (const run of runsOf(open.filter((page) => !pages.has(page))))
    sums.addText(await sumsAskedFor(session, query, run));
  return { sums: sums.text(), pages, first: moment.first };
}

interface Opened {
  /** Pages that nothing was kept of. */
  readonly open: readonly number[];
  readonly moment: Moment;
  readonly keeping: Keeping;
}

/** Reads pages that come to the same ever after, as long as there is room for more. */
async function* pagesToKeep(session: Session, { open, moment, keeping }: Opened) {
  const full = open.filter(isSettled(moment, keeping));
  if (full.length === 0) return;
  const live = await livePages(session);
  let { room } = keeping;
  for (const slice of slicesOf(full.filter((page) => !live.has(page)))) {
    if (room <= 0) return;
    const read = await sumsOfPages(session, slice);
    for (const [, text] of read) room -= text.length;
    yield* read;
  }
}

function generationsIn({ generations }: Moment): (page: number) => number {
  // Safe: the statement makes an object of numbers.
  const known = JSON.parse(generations) as Record<string, number>;
  return (page) => known[page] ?? 0;
}

/** Whether no task will come to a page that this moment does not see. */
function isSettled({ xmin }: Moment, { settled }: Keeping): (page: number) => boolean {
  if (settled === undefined || BigInt(xmin) <= BigInt(settled.xid)) return () => false;
  return (page) => (page + 1) * PAGE <= settled.task;
}

/** Runs of pages, none of them too long. The newest come first: where there is no room for all, these are kept. */
function slicesOf(pages: readonly number[]): [first: number, last: number][] {
  const slices = runsOf(pages).flatMap(([first, last]) =>
    Array.from({ length: Math.ceil((last - first + 1) / AT_ONCE) }, (_, i): [number, number] => [
      first + i * AT_ONCE,
      Math.min(last, first + (i + 1) * AT_ONCE - 1),
    ]),
  );
  return slices.reverse();
}
