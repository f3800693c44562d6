import { ask } from "../../api/ask.ts";
import { nowMs } from "../../api/connection.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Role } from "../../api/session.ts";

/** A row of usage. What upstreams cost, and what is left, only operators are told. */
export type UsageRow = Schemas["OwnUsage"]["rows"][number] & Partial<Schemas["Usage"]["rows"][number]>;
export type UsageSum = Schemas["OwnUsage"]["total"] & Partial<Schemas["Usage"]["total"]>;

/** What is looked at; the address has the same names. */
export interface Asked {
  /** What each row is of. */
  readonly by: Group;
  /** Days back from today; empty: from `since` to `until`. */
  readonly days: string;
  readonly since: string;
  readonly until: string;
  readonly account: string;
}

export const GROUPS = {
  tenant: ["model", "key", "day"],
  operator: ["model", "key", "account", "provider", "day"],
} as const;
export type Group = (typeof GROUPS.operator)[number];

export interface Figures {
  readonly since: string;
  readonly until: string;
  readonly total: UsageSum;
  /** A row for each day, the first one first; those without a task are there too. */
  readonly days: readonly UsageRow[];
  /** What was asked for, the dearest first. */
  readonly rows: readonly UsageRow[];
  /** What the dearest were charged each day; undefined where there is too much to tell apart, and by day. */
  readonly lines: Lines | undefined;
}

/** Amounts of a few things for each of the days. */
export interface Lines {
  readonly names: readonly string[];
  readonly amounts: readonly (readonly number[])[];
}

const DAY_MS = 86_400_000;
/** As many lines as can be told apart. */
const MOST_LINES = 5;

/** @throws ApiProblem */
export async function readFigures(role: Role, asked: Asked, signal: AbortSignal): Promise<Figures> {
  const { by } = asked;
  const [byDay, byThing, both] = await Promise.all([
    usage(role, "day", asked, signal),
    by === "day" ? undefined : usage(role, by, asked, signal),
    // The lines alone are left out where there are more pairs than an answer has.
    by === "day" ? undefined : usage(role, `day,${by}`, asked, signal).catch(() => undefined),
  ]);
  const { since, until, total } = byDay;
  const days = everyDay(byDay.rows, since, until);
  if (byThing === undefined)
    return { since, until, total, days, rows: [...days].reverse(), lines: undefined };
  const rows = [...byThing.rows].sort((one, other) => Number(other.charged) - Number(one.charged));
  return { since, until, total, days, rows, lines: both && linesOf(by, rows, days, both.rows) };
}

interface Summed {
  readonly since: string;
  readonly until: string;
  readonly total: UsageSum;
  readonly rows: readonly UsageRow[];
}

async function usage(
  role: Role,
  by: string,
  { days, since, until, account }: Asked,
  signal: AbortSignal,
): Promise<Summed> {
  const range = days === "" ? { since, until } : { since: daysAgo(Number(days) - 1) };
  const query = { by, ...range };
  return role === "operator"
    ? ask("GET /admin/v1/usage", { query: { ...query, account } }, { signal })
    : ask("GET /v1/usage", { query }, { signal });
}

/** What a field of a day can show: an address may say anything. */
export function dayOrNone(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}

/** @param count days before today, UTC */
export function daysAgo(count: number): string {
  return new Date(nowMs() - count * DAY_MS).toISOString().slice(0, 10);
}

const NOTHING = {
  ...{ completed: 0, failed: 0, cancelled: 0, outputs: 0, resubmitted: 0 },
  ...{ charged: "0.000000", upstream_cost: null, margin: null },
};

/** The rows with one for each day between, so that a plot does not draw a line over days without a task. */
export function everyDay(rows: readonly UsageRow[], since: string, until: string): UsageRow[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  const days: UsageRow[] = [];
  for (let at = Date.parse(since); at <= Date.parse(until); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push(known.get(day) ?? { ...NOTHING, day });
  }
  return days;
}

/** What a row is of, as people call it. */
export function nameOf(by: Group, row: UsageRow): string {
  if (by === "day") return row.day ?? "";
  if (by === "model") return row.model ?? "";
  if (by === "provider") return row.provider ?? "";
  if (by === "account") return row.account ?? "";
  return row.account === undefined ? (row.key ?? "") : `${row.account} / ${row.key}`;
}

/** What tells a row from the others: two keys may have one name. */
export function idOf(by: Group, row: UsageRow): string {
  if (by === "key") return row.key_id ?? "";
  return by === "account" ? (row.account_id ?? "") : nameOf(by, row);
}

export function linesOf(
  by: Group,
  rows: readonly UsageRow[],
  days: readonly UsageRow[],
  pairs: readonly UsageRow[],
): Lines {
  const dearest = rows.filter(({ charged }) => Number(charged) > 0).slice(0, MOST_LINES);
  const charged = new Map(pairs.map((row) => [`${row.day} ${idOf(by, row)}`, Number(row.charged)] as const));
  return {
    names: dearest.map((row) => nameOf(by, row)),
    amounts: dearest.map((row) => days.map(({ day }) => charged.get(`${day} ${idOf(by, row)}`) ?? 0)),
  };
}

/** Where a day is on a plot, in Unix seconds: its midnight on the reader's clock, so that the axis says the same day. */
export function plotTime(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).getTime() / 1_000;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** A day, which is one of UTC, as the reader's country writes it. */
export function dayText(day: string): string {
  const at = Date.parse(day);
  return Number.isNaN(at) ? day : dayFormat.format(at);
}
