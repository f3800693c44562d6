import { DAY_MS } from "../../domain/day.ts";
import type { UsageQuery } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { PAGE, pageOf } from "../sqlite/audit/seal-table.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import {
  placeOf,
  SUM_COLUMNS,
  type Summed,
  sumsOfAttempts,
  sumsOfTasks,
  type UsagePage,
} from "../sqlite/usage-pages.ts";
import { isByProvider } from "../sqlite/usage-report.ts";
import { type ToldApart, toldApartBy } from "../sqlite/usage-sums.ts";
import type { SettledNumbers } from "./audit-settled.ts";
import { type Session, statement } from "./session.ts";

/** No function of ours counts the results: with one, the server would read with one process alone. */
const OUTPUTS = "json_array_length(results::json)";

/** A sum as a JSON list without spaces: many of them are kept. */
const AS_LIST = `'[' || concat_ws(',', ${SUM_COLUMNS.map((column) =>
  column === "provider" ? "to_json(provider)::text" : `coalesce(${column}::text, 'null')`,
).join(", ")}) || ']'`;

/** The rows of tasks whose numbers are in a range, as what they are summed up from. @param and further conditions */
const within = (and: string): Omit<Summed, "places"> => ({
  tasks: `task where number between $1 and $2 ${and} and`,
  attempts: `attempt join task on task.number = task_number
    where task_number between $1 and $2 and number between $1 and $2 ${and} and`,
});

const SUMS_OF_PAGES = {
  ...within(""),
  places: (provider: string) => [`${pageOf("number")} as page`, ...placeOf(provider)],
};
type Numbers = readonly [low: number, high: number];
const OF_PAGES = statement<{ page: number; sums: string }, Numbers>(
  `select page, '[' || string_agg(${AS_LIST}, ',') || ']' as sums
   from (${sumsOfTasks(OUTPUTS, SUMS_OF_PAGES)} union all ${sumsOfAttempts(SUMS_OF_PAGES)}) as summed group by page`,
);
// Goes by an index of live tasks alone, which are few beside those that have ended.
const LIVE_PAGES = statement<{ page: number }>(
  `select distinct ${pageOf("number")} as page from task where ${LIVE}`,
);

const PLAN_ANEW = statement("select set_config('plan_cache_mode', 'force_custom_plan', true) as planned");

/** Until the end of the transaction. A plan that serves all ranges takes each for a small one, and seeks what it should read in one go. */
export const planAnew = (session: Session): Promise<number> => PLAN_ANEW.run(session);

interface MomentRow {
  readonly first: number | null;
  readonly last: number | null;
  /** As `xmin:xmax:open,open`; a standby does not tell which are open. */
  readonly snapshot: string;
  readonly is_standby: boolean;
  /** By page, as JSON. */
  readonly generations: string;
}
const MOMENT = statement<MomentRow>(
  `select (select ${pageOf("min(number)")} from task) as first, (select ${pageOf("max(number)")} from task) as last,
     pg_current_snapshot()::text as snapshot, pg_is_in_recovery() as is_standby,
     (select coalesce(json_object_agg(page, generation), '{}')::text from audit_seal
       where table_name = 'task' and generation > 0) as generations`,
);

/** The pages of tasks that there are, in the moment of a session. */
export interface PagesNow {
  readonly first: number;
  readonly last: number;
  /** Whether it sees every transaction that wrote to this database before those numbers were drawn. */
  sees(settled: Pick<SettledNumbers, "xid" | "elsewhere">): boolean;
  readonly generationOf: (page: number) => number;
}

/** Undefined if there are no tasks. */
export async function pagesNow(session: Session): Promise<PagesNow | undefined> {
  const row = await MOMENT.get(session);
  if (row?.first == null || row.last == null) return undefined;
  // Safe: the statement makes an object of numbers.
  const known = JSON.parse(row.generations) as Record<string, number>;
  return { first: row.first, last: row.last, sees: seenIn(row), generationOf: (page) => known[page] ?? 0 };
}

/** Locks name transactions by numbers that begin anew at this one. */
const LOCK_NUMBERS = 2n ** 32n;

function seenIn({ snapshot, is_standby }: MomentRow): PagesNow["sees"] {
  const [xmin = "0", , open = ""] = snapshot.split(":");
  return ({ xid, elsewhere }) => {
    if (BigInt(xmin) > BigInt(xid)) return true;
    const others = new Set(elsewhere.split(","));
    const isElsewhere = (each: string) => others.has(String(BigInt(each) % LOCK_NUMBERS));
    return !is_standby && open.split(",").every((each) => BigInt(each) > BigInt(xid) || isElsewhere(each));
  };
}

/** Whether what a page came to still counts. */
export const isSame = (before: UsagePage, generation: number, history: string | undefined): boolean =>
  before.generation === generation && before.history === history;

const ASKED_FOR = `and ($3::text is null or account_number = ${accountNumber("$3")})
  and completed_at >= $4::bigint * ${DAY_MS} and completed_at < ($5::bigint + 1) * ${DAY_MS}`;

/** Sums up only what a report asks for, by what it tells apart: few rows come here, however many are read. */
function prepareAsked(query: UsageQuery) {
  const sums = {
    ...within(ASKED_FOR),
    places: (provider: string) => placesTold(toldApartBy(query), provider),
  };
  const ofTasks = isByProvider(query) ? `${sumsOfTasks(OUTPUTS, sums)} union all ` : "";
  return statement<{ sums: string }, [...Numbers, account: string | null, from: number, to: number]>(
    `select coalesce(string_agg(${AS_LIST}, ','), '') as sums
     from (${ofTasks}${sumsOfAttempts(sums)}) as summed`,
  );
}

function placesTold(is: ToldApart, provider: string): string[] {
  return [
    `${is.account ? "account_number" : "null::bigint"} as account_number`,
    `${is.day ? `completed_at / ${DAY_MS}` : "$4::bigint"} as day`,
    `${is.key ? "key_label" : "null::bigint"} as key_label`,
    `${is.model ? "model_label" : "null::bigint"} as model_label`,
    `${is.provider ? provider : "''"} as provider`,
  ];
}

const asked = new Map<string, ReturnType<typeof prepareAsked>>();

/** What a report asks for of the tasks on some pages in a row: `UsageSum`s, as JSON without the brackets around the list. */
export async function sumsAskedFor(
  session: Session,
  query: UsageQuery,
  [first, last]: readonly [first: number, last: number],
): Promise<string> {
  const { accountId, by, and, from, to } = query;
  const sums = asked.getOrInsertComputed(`${by} ${and} ${accountId === undefined}`, () =>
    prepareAsked(query),
  );
  const row = await sums.get(session, first * PAGE, (last + 1) * PAGE - 1, accountId ?? null, from, to);
  return row?.sums ?? "";
}

/** The pages with tasks that have not ended. */
export async function livePages(session: Session): Promise<ReadonlySet<number>> {
  return new Set((await LIVE_PAGES.all(session)).map(({ page }) => page));
}

/** What the ended tasks on each of some pages in a row come to: `UsageSum`s, as JSON. */
export async function sumsOfPages(
  session: Session,
  [first, last]: readonly [first: number, last: number],
): Promise<(readonly [page: number, sums: string])[]> {
  const rows = await OF_PAGES.all(session, first * PAGE, (last + 1) * PAGE - 1);
  const found = new Map(rows.map(({ page, sums }) => [page, sums]));
  return Array.from({ length: last - first + 1 }, (_, i) => [first + i, found.get(first + i) ?? "[]"]);
}
