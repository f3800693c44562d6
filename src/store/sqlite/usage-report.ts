import type { Database } from "bun:sqlite";
import type { AccountId } from "../../domain/ids.ts";
import { toSum } from "../../domain/money/money.ts";
import { MOST_USAGE_LINES, type UsageGroup, type UsageSplit } from "../../domain/money/usage.ts";
import type { UsageLine, UsageQuery } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { named } from "./task-store/task-table.ts";
import { prepareUsagePages, SUM_COLUMNS, type UsagePages } from "./usage-pages.ts";
import { createUsageSums } from "./usage-sums.ts";

export type Subject = Pick<UsageLine, "accountId" | "keyId" | "model" | "day" | "provider">;
/** Sums of money are text: databases write numbers of more digits than JavaScript reads. */
export type Totals = Omit<UsageLine, "charged" | "cost" | "chargedAtCost" | "resubmitted"> & {
  readonly charged: string;
};
export type Spent = Subject & { readonly cost: string; readonly charged: string };
export type Repeated = Subject & { readonly count: number };
export type Range = [account: AccountId | null, from: number, to: number];

/** The columns that a line of a group is told apart by. */
const COLUMNS: Readonly<Record<UsageGroup, readonly string[]>> = {
  key: ['account_id as "accountId"', 'key_id as "keyId"'],
  account: ['account_id as "accountId"'],
  model: ["model"],
  day: ["day"],
  provider: ["provider"],
};

/** The parts of the statements of a report that differ between databases. */
export interface ReportDialect {
  /** The parameters: the account or null, and the first and the last day. */
  readonly account: string;
  readonly from: string;
  readonly to: string;
  /** The sums in the fourth parameter, a JSON list of `UsageSum`, as a table with a column `value`. */
  readonly sums: string;
  /** A whole number in such a sum. */
  readonly numberAt: (position: number) => string;
}

/** The columns that `COLUMNS` and the totals of days have, of what has their numbers. */
const OF_TASK = named("account_id", "key_id", "model");

const OF_BOOKS = SUM_COLUMNS.map((column) => (column === "cancelled" ? "0 as cancelled" : column));

/** Of the tasks in the books and of those that the sums in the fourth parameter are of, what counts something. */
function sumsThatCount(dialect: ReportDialect, column: (typeof SUM_COLUMNS)[number]): string {
  const { account, from, to, sums, numberAt } = dialect;
  const ofPages = SUM_COLUMNS.map(
    (name, i) => `${name === "provider" ? `value ->> ${i}` : numberAt(i)} as ${name}`,
  );
  return `(
    select ${OF_BOOKS.join(", ")} from books_day
    union all select ${ofPages.join(", ")} from ${sums}
  ) as counted where ${column} > 0 and day between ${from} and ${to}
    and (${account} is null or account_number = ${accountNumber(account)})`;
}

/** The statements of a report: its lines, what they cost, and what was submitted again. */
export function reportStatements(dialect: ReportDialect, split: UsageSplit) {
  const { account, from, to } = dialect;
  const { list, places, isByProvider } = placesOf(split);
  /** The totals of days, which have no providers. They take no sums. */
  const days = `select account_id, key_id, model, day, completed, failed, cancelled, outputs, charged_micros from usage_day
    where (${account} is null or account_id = ${account}) and day between ${from} and ${to}`;
  /** The totals of all tasks, with the providers that had them last. */
  const tasks = `select ${OF_TASK}, day, provider, completed, tasks - completed - cancelled as failed, cancelled, outputs, charged_micros
    from ${sumsThatCount(dialect, "tasks")}`;
  const totals = ["completed", "failed", "cancelled", "outputs"].map(
    (column) => `cast(sum(${column}) as bigint) as ${column}`,
  );
  // Of a task with several providers, the charge counts once.
  const charged = isByProvider ? "charged_here_micros" : "charged_once_micros";
  return {
    isByProvider,
    lines: `select ${list}, ${totals.join(", ")}, cast(sum(charged_micros) as text) as charged
      from (${isByProvider ? tasks : days}) as ended group by ${places} order by ${places} limit ${MOST_USAGE_LINES + 1}`,
    costs: `select ${list}, cast(sum(cost_micros) as text) as cost, cast(sum(charged) as text) as charged
      from (select ${OF_TASK}, provider, day, ${charged} as charged, cost_micros from ${sumsThatCount(dialect, "costed")}) as spent
      group by ${places}`,
    repeats: `select ${list}, cast(sum(resubmitted) as bigint) as count
      from (select ${OF_TASK}, provider, day, resubmitted from ${sumsThatCount(dialect, "resubmitted")}) as repeated
      group by ${places}`,
  };
}

const DIALECT: ReportDialect = {
  ...{ account: "?1", from: "?2", to: "?3", sums: "json_each(?4)" },
  numberAt: (position) => `value ->> ${position}`,
};

/**
 * The body of `UsageStore.report`, for a transaction.
 *
 * @param kept what pages came to before, which counts where their generation is still the same; all others are read
 */
export function prepareUsageReport(db: Database): (query: UsageQuery, kept?: UsagePages) => UsageLine[] {
  const pages = prepareUsagePages(db);
  const known = new Map<string, ReturnType<typeof prepareSplit>>();

  function sumsOf(query: UsageQuery, kept: UsagePages | undefined): string {
    const sums = createUsageSums(query);
    for (const page of pages.all()) {
      const before = kept?.get(page);
      const isSame = before !== undefined && before.generation === pages.generationOf(page);
      sums.add(isSame ? JSON.parse(before.sums) : pages.sumsOf(page));
    }
    return sums.text();
  }

  return (query, kept) => {
    const { accountId, from, to, by, and } = query;
    const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit(db, { by, and }));
    const range: Range = [accountId ?? null, from, to];
    const sums = readsTasks(query) ? sumsOf(query, kept) : "[]";
    const lines = statements.lines(range, sums);
    if (query.isWithoutCosts) return linesWithoutCosts(lines);
    return linesOf(lines, statements.costs.all(...range, sums), statements.repeats.all(...range, sums));
  };
}

/** Whether tasks and attempts have to be summed up: days have neither providers nor costs. */
export const readsTasks = (query: UsageQuery): boolean => !query.isWithoutCosts || isByProvider(query);

export const isByProvider = ({ by, and }: UsageSplit): boolean => by === "provider" || and === "provider";

export function linesWithoutCosts(lines: readonly Totals[]): UsageLine[] {
  return lines.map((row) => ({ ...row, charged: toSum(row.charged) }));
}

/** The lines of a report, each with what it cost and what was submitted again. */
export function linesOf(
  lines: readonly Totals[],
  costs: readonly Spent[],
  repeats: readonly Repeated[],
): UsageLine[] {
  const spent = new Map(costs.map((row) => [nameOf(row), row]));
  const repeated = new Map(repeats.map((row) => [nameOf(row), row.count]));
  return lines.map((row) => {
    const atCost = spent.get(nameOf(row));
    const resubmitted = repeated.get(nameOf(row));
    return {
      ...row,
      charged: toSum(row.charged),
      cost: atCost && toSum(atCost.cost),
      chargedAtCost: atCost && toSum(atCost.charged),
      ...(resubmitted !== undefined && { resubmitted }),
    };
  });
}

/** How the lines of a split are told apart, as SQL. */
function placesOf(split: UsageSplit) {
  const { by, and } = split;
  const groups = and === undefined ? [by] : [by, and];
  const columns = [...new Set(groups.flatMap((group) => COLUMNS[group]))];
  return {
    list: columns.join(", "),
    places: columns.map((_, i) => i + 1).join(", "),
    isByProvider: isByProvider(split),
  };
}

type WithSums = [...range: Range, sums: string];

function prepareSplit(db: Database, split: UsageSplit) {
  const { isByProvider, ...texts } = reportStatements(DIALECT, split);
  return {
    lines: prepareLines(db, texts.lines, isByProvider),
    costs: db.prepare<Spent, WithSums>(texts.costs),
    repeats: db.prepare<Repeated, WithSums>(texts.repeats),
  };
}

function prepareLines(
  db: Database,
  text: string,
  isByProvider: boolean,
): (range: Range, sums: string) => Totals[] {
  if (isByProvider) {
    const ofTasks = db.prepare<Totals, WithSums>(text);
    return (range, sums) => ofTasks.all(...range, sums);
  }
  const ofDays = db.prepare<Totals, Range>(text);
  return (range) => ofDays.all(...range);
}

/** Tells lines of one split apart. */
function nameOf({ accountId, keyId, model, day, provider }: Subject): string {
  return [accountId, keyId, model, day, provider].join(" ");
}
