import type { UsageQuery } from "../../domain/ports/usage-store.ts";
import { createTurns } from "../../toolkit/next-turn.ts";
import { runsOf } from "../sqlite/audit/reader.ts";
import type { UsagePages } from "../sqlite/usage-pages.ts";
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
import { isSame, pagesNow, planAnew, sumsAskedFor } from "./usage-pages.ts";

/** What a report may take from earlier ones. */
export interface Keeping {
  readonly kept: UsagePages;
  /** Of the database, as `UsagePage` has it. */
  readonly history: string;
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

const known = new Map<string, ReturnType<typeof prepareSplit>>();

/**
 * The body of `UsageStore.report`, for a session that sees one moment.
 *
 * @param keeping what pages came to before, which counts where it is still the same; all other tasks are read
 */
export async function usageReport(
  session: Session,
  query: UsageQuery,
  keeping?: Keeping,
): Promise<Omit<UsageRead, "pages">> {
  const { accountId, from, to, by, and, isWithoutCosts = false } = query;
  const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit({ by, and }));
  const range: Range = [accountId ?? null, from, to];
  await planAnew(session);
  const { sums, ...read } = readsTasks(query) ? await readPages(session, query, keeping) : NOTHING_READ;
  const lines = await statements.lines(session, range, sums);
  if (isWithoutCosts) return { ...read, lines: linesWithoutCosts(lines) };
  const costs = await statements.costs.all(session, ...range, sums);
  const repeats = await statements.repeats.all(session, ...range, sums);
  return { ...read, lines: linesOf(lines, costs, repeats) };
}

interface TasksRead extends Pick<UsageRead, "first"> {
  /** Of all tasks, as JSON. */
  readonly sums: string;
}

const NOTHING_READ: TasksRead = { sums: "[]", first: 0 };

/** Adds up what was kept, and has the database sum up all other pages by one statement for each run of them. */
async function readPages(session: Session, query: UsageQuery, keeping?: Keeping): Promise<TasksRead> {
  const moment = await pagesNow(session);
  if (moment === undefined) return NOTHING_READ;
  const sums = createUsageSums(query);
  const turn = createTurns();
  const open: number[] = [];
  for (let page = moment.first; page <= moment.last; page++) {
    const before = keeping?.kept.get(page);
    if (before === undefined || !isSame(before, moment.generationOf(page), keeping?.history)) open.push(page);
    else {
      sums.add(JSON.parse(before.sums));
      // Takes a while for many pages, and this is the thread that answers requests.
      await turn(before.sums.length);
    }
  }
  for (const run of runsOf(open)) sums.addText(await sumsAskedFor(session, query, run));
  return { sums: sums.text(), first: moment.first };
}
