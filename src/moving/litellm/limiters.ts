import type { QuotaReset } from "../../domain/money/quota.ts";
import { countIn, flagIn, listIn, objectOf, type Row, textOf, textsIn, UnreadableValue } from "../fields.ts";
import { type MovedQuota, quotaOf } from "./budgets.ts";

/** A team, a user, a user's place in a team, a project or an organization, whose terms narrow keys besides their own. */
export interface Limiter {
  readonly what: "team" | "user" | "place in its team" | "project" | "organization";
  readonly row: Row;
}

/** Why a key may do nothing, and so cannot come. */
export class Shut extends Error {
  override readonly name = "Shut";
}

/** LiteLLM's words for "whatever there is". */
const ALL_MODELS = ["all-proxy-models", "all-team-models", "*"];

/**
 * The lists of models by which a key is narrowed: it may use what is in all of them.
 * @param groups rows of access groups by their ids
 * @throws Shut for an access group that is not there
 */
export function listsOfModels(
  rows: readonly Row[],
  groups: ReadonlyMap<string, Row>,
): readonly (readonly string[])[] {
  return rows.map((row) => modelsIn(row, groups)).filter((list) => list !== undefined);
}

/** Whether a name of a model is in all lists, whose entries may have a star for any text. */
export function isInAll(name: string, lists: readonly (readonly string[])[]): boolean {
  return lists.every((list) => list.some((entry) => isLike(name, entry)));
}

function isLike(name: string, entry: string): boolean {
  const [before = "", after, more] = entry.split("*");
  if (after === undefined) return name === entry;
  // Nothing in LiteLLM makes an entry with two stars.
  if (more !== undefined) return false;
  return name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

/** A list of models that is empty means all, unless there are access groups. */
function modelsIn(row: Row, groups: ReadonlyMap<string, Row>): readonly string[] | undefined {
  const own = textsIn(row, "models");
  if (own.some((model) => ALL_MODELS.includes(model))) return undefined;
  const ids = textsIn(row, "access_group_ids");
  const found = ids.map((id) => groups.get(id)).filter((group) => group !== undefined);
  if (own.length === 0 && found.length < ids.length)
    throw new Shut(
      "an access group that says which models it may use is not there: read the database with --spend",
    );
  const all = [...own, ...found.flatMap((group) => textsIn(group, "access_model_names"))];
  return own.length === 0 && ids.length === 0 ? undefined : all;
}

/** The smallest count that several rows have in a column. @throws Shut for 0, with which nothing may be done */
export function leastIn(rows: readonly Row[], column: string): number | undefined {
  const counts = rows.flatMap((row) => countIn(row, column) ?? []);
  if (counts.some((count) => count < 1)) throw new Shut(`with a ${column} of 0 it may do nothing`);
  return counts.length === 0 ? undefined : Math.min(...counts);
}

const RESETS: readonly QuotaReset[] = ["daily", "weekly", "monthly", "total"];
const rarerOf = (a: QuotaReset, b: QuotaReset) => (RESETS.indexOf(a) < RESETS.indexOf(b) ? b : a);

/**
 * The quota of a key that lets it spend no more than its own budgets, nor more than whom it belongs to may: of two, the smaller amount
 * for the longer time. A total of a team or a user is what their account has here.
 * @throws Shut for a budget that is no amount; UnreadableValue for further budgets that are no list of them
 */
export function strictest(
  own: MovedQuota | undefined,
  row: Row,
  limiters: readonly Limiter[],
): MovedQuota | undefined {
  const several = "of its budgets the smallest amount counts, for the longest time";
  let quota = own;
  for (const further of furtherBudgets(row)) quota = stricterOf(quota, further, several);
  for (const { what, row: limiting } of limiters) {
    const counted = `the budget of its ${what} counts for each key by itself`;
    const budget = quotaOf(limiting);
    if (budget !== undefined && !isAccounts(what, budget)) {
      if (budget === "unreadable") throw new Shut(`the budget of its ${what} is no amount`);
      quota = stricterOf(quota, budget, counted);
    }
    for (const further of furtherBudgets(limiting)) quota = stricterOf(quota, further, counted);
  }
  return quota;
}

/** @param note what is told where the second narrows the first */
function stricterOf(quota: MovedQuota | undefined, other: MovedQuota, note: string): MovedQuota {
  const limit = quota !== undefined && quota.limit < other.limit ? quota.limit : other.limit;
  const reset = quota === undefined ? other.reset : rarerOf(quota.reset, other.reset);
  if (quota !== undefined && limit === quota.limit && reset === quota.reset) return quota;
  const before = quota?.note;
  if (before?.includes(note)) return { limit, reset, note: before };
  return { limit, reset, note: before === undefined ? note : `${before}; ${note}` };
}

const FURTHER = "budget_limits";

/** Budgets that count beside the first one, each for a time of its own. @throws UnreadableValue */
function furtherBudgets(row: Row): readonly MovedQuota[] {
  return listIn(row, FURTHER).map((given) => {
    const budget = quotaOf({ ...objectOf(given), spend: 0 });
    if (budget === undefined || budget === "unreadable")
      throw new UnreadableValue(FURTHER, "list of budgets");
    return budget;
  });
}

/** Whether a budget becomes what an account has to spend, or keeps it from spending anything. */
export function isAccounts(what: Limiter["what"], quota: MovedQuota | "unreadable"): boolean {
  const isOwner = what === "team" || what === "user";
  return isOwner && (quota === "unreadable" || (quota.reset === "total" && quota.note === undefined));
}

/** @throws Shut for a project or an organization that is blocked. A team or a user is an account, which is suspended */
export function refuseBlocked(limiters: readonly Limiter[]): void {
  for (const { what, row } of limiters) {
    if (what !== "team" && what !== "user" && flagIn(row, "blocked"))
      throw new Shut(`its ${what} is blocked there`);
  }
}

/** Names of lists that have the paths for pictures and videos, and some of these paths. */
const OPEN_LISTS = ["llm_api_routes", "openai_routes"];
const PATHS = ["images/generations", "images/edits", "images/variations", "videos"].flatMap((path) => [
  `/${path}`,
  `/v1/${path}`,
]);

/**
 * Whether a key may call some path that makes pictures or videos. @param routes names of lists, and paths, which may end with a star
 * @throws Shut if it may not
 */
export function refuseOtherPaths(routes: readonly string[]): void {
  const covers = (route: string) =>
    OPEN_LISTS.includes(route) ||
    PATHS.some((path) => (route.endsWith("*") ? path.startsWith(route.slice(0, -1)) : path === route));
  if (routes.length > 0 && !routes.some(covers))
    throw new Shut("no path that it may call makes pictures or videos");
}

/** A budget that a row refers to counts where it has none of its own. */
export function withBudget(row: Row, budgets: ReadonlyMap<string, Row>): Row {
  const budget = budgets.get(textOf(row.budget_id) ?? "");
  if (budget === undefined) return row;
  const fields = ["max_budget", "budget_duration", "rpm_limit", "tpm_limit", "max_parallel_requests"];
  const added = fields.flatMap((field) =>
    (row[field] ?? undefined) === undefined ? [[field, budget[field]]] : [],
  );
  return { ...row, ...Object.fromEntries(added) };
}
