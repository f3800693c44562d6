import { isForeignKey } from "../../domain/access/credential.ts";
import type { ModelId } from "../../domain/ids.ts";
import { flagIn, integerOf, objectOf, type Row, textOf, textsIn, textsOf, timeIn } from "../fields.ts";
import type { HeldKey, LeftBehind } from "../holdings.ts";
import { moveRow } from "../move-rows.ts";
import { aliasesFrom, displayOfForeign, nameOf } from "../names.ts";
import { quotaOf } from "./budgets.ts";
import {
  isInAll,
  type Limiter,
  leastIn,
  listsOfModels,
  refuseBlocked,
  refuseOtherPaths,
  Shut,
  strictest,
  withBudget,
} from "./limiters.ts";

const HASH = /^[0-9a-f]{64}$/;
const MOST_RPM = 1_000_000;
const MOST_CONCURRENCY = 10_000;

export interface KeyDeps {
  readonly now: number;
  readonly hash: (text: string) => string;
  /** Their names of models, and what they stand for here. */
  readonly models: ReadonlyMap<string, ModelId>;
  /** Budgets that rows refer to. */
  readonly budgets: ReadonlyMap<string, Row>;
  /** The origin of the account that a row's key belongs to. */
  readonly ownerOf: (row: Row) => string | undefined;
  /** What narrows a row's key besides its own terms. */
  readonly limitersOf: (row: Row) => readonly Limiter[];
  /** The other names of models that the team of a row's key has, as they stand there. */
  readonly teamAliasesOf: (row: Row) => unknown;
  /** Access groups that rows refer to. */
  readonly accessGroups: ReadonlyMap<string, Row>;
}

/** Converts a row of LiteLLM_VerificationToken to a key here, or says why it cannot be one. */
export function moveKey(given: Row, deps: KeyDeps): HeldKey | LeftBehind {
  const token = textOf(given.token) ?? "";
  const known = tokenOf(token, textOf(given.key_name), deps.hash);
  const name = nameOf(given.key_alias, nameOf(given.key_name, `key ${known.display}`));
  const keyOrigin = `key ${known.hash ?? deps.hash(token)}`;
  const left = (why: string): LeftBehind => ({ kind: "key", from: name, why, keyOrigin });
  if (token === "") return left("it has no token");
  return moveRow(left, () => {
    try {
      return moveKnown(given, { ...deps, name, known, left });
    } catch (error) {
      if (error instanceof Shut) return left(error.message);
      throw error;
    }
  });
}

interface Known {
  readonly name: string;
  readonly known: ReturnType<typeof tokenOf>;
  readonly left: (why: string) => LeftBehind;
}

/** @throws UnreadableValue for what narrows it and cannot be read; Shut */
function moveKnown(given: Row, { name, known, left, ...deps }: KeyDeps & Known): HeldKey | LeftBehind {
  const budgetId = textOf(given.budget_id);
  if (budgetId !== undefined && !deps.budgets.has(budgetId))
    return left(
      "the budget that it refers to is not there: read the database with --spend, or make a key here",
    );
  const row = withBudget(given, deps.budgets);
  const token = textOf(row.token) ?? "";
  if (flagIn(row, "blocked")) return left("it is blocked there");
  const expiresAt = timeIn(row, "expires");
  if (expiresAt !== undefined && expiresAt <= deps.now) return left("it has expired");
  const ownQuota = quotaOf(row);
  if (ownQuota === "unreadable") return left("its budget is no amount");
  const limiters = deps.limitersOf(row);
  refuseBlocked(limiters);
  refuseOtherPaths(textsIn(row, "allowed_routes"));
  const rows = [row, ...limiters.map((limiter) => limiter.row)];
  const quota = strictest(ownQuota, row, limiters);
  const own = aliasesIn(row.aliases, deps.models);
  const names = new Map(deps.models);
  for (const [alias, id] of own) names.set(alias, id);
  const lists = listsOfModels(rows, deps.accessGroups);
  const isOpen = lists.length === 0;
  const ofTeam = aliasesIn(deps.teamAliasesOf(row), deps.models);
  const allowed = new Map([
    ...[...names].filter(([model]) => isInAll(model, lists)),
    // Its list of models need not have them, but what they stand for.
    ...ofTeam.filter(([, , of]) => isInAll(of, lists)).map(([alias, id]) => [alias, id] as const),
  ]);
  const models = [...new Set(allowed.values())];
  if (!isOpen && models.length === 0) return left("none of the models that it may use is here");
  const rpm = leastIn(rows, "rpm_limit");
  const parallel = leastIn(rows, "max_parallel_requests");
  const aliases = aliasesFrom(allowed);
  return {
    origin: `key ${known.hash ?? deps.hash(token)}`,
    ...{ name, account: deps.ownerOf(row), hash: known.hash, display: known.display },
    terms: {
      ...(isOpen ? {} : { models }),
      ...aliases.terms,
      ...(rpm === undefined ? {} : { requestsPerMinute: Math.min(rpm, MOST_RPM) }),
      ...(parallel === undefined ? {} : { concurrency: Math.min(parallel, MOST_CONCURRENCY) }),
      ...(quota === undefined ? {} : { quota: { limit: quota.limit, reset: quota.reset } }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
    notes: [...notesOf(row, quota?.note, known.hash, limiters), ...aliases.notes],
  };
}

/** LiteLLM keeps the SHA-256 of a key, as this service does. Very old versions kept the key itself. */
function tokenOf(token: string, keyName: string | undefined, hash: (text: string) => string) {
  if (HASH.test(token)) return { hash: token, display: keyName ?? "sk-…" };
  const display = displayOfForeign(token);
  return isForeignKey(token) ? { hash: hash(token), display } : { hash: undefined, display };
}

/** Other names of models, the models that they stand for here, and their names there. */
function aliasesIn(
  given: unknown,
  models: ReadonlyMap<string, ModelId>,
): (readonly [alias: string, id: ModelId, of: string])[] {
  return Object.entries(objectOf(given)).flatMap(([alias, of]) => {
    const id = typeof of === "string" ? models.get(of) : undefined;
    return id === undefined ? [] : [[alias, id, String(of)] as const];
  });
}

/** Columns that narrow a key in ways that there are not here. */
const NARROWING: readonly (readonly [column: string, note: string])[] = [
  ["model_max_budget", "budgets for single models do not come"],
  ["allowed_routes", "its list of allowed paths does not come"],
  ["project_id", "limits of its project do not come"],
  ["organization_id", "limits of its organization do not come"],
  ["object_permission_id", "permissions for single objects do not come"],
];

/** Members of a key's or a team's metadata, each with limits by model. */
const LIMITS_BY_MODEL = ["model_rpm_limit", "model_tpm_limit"];

function hasLimitsByModel({ metadata }: Row): boolean {
  const given = objectOf(metadata);
  return LIMITS_BY_MODEL.some((name) => Object.keys(objectOf(given[name])).length > 0);
}

function notesOf(
  row: Row,
  quotaNote: string | undefined,
  hash: string | undefined,
  limiters: readonly Limiter[],
): string[] {
  const notes = quotaNote === undefined ? [] : [quotaNote];
  if (hash === undefined) notes.push("gets a new secret: its own is not kept in a form that can go on");
  if (integerOf(row.tpm_limit) !== undefined) notes.push("tokens per minute mean nothing here");
  if ([row, ...limiters.map((limiter) => limiter.row)].some(hasLimitsByModel))
    notes.push("limits of requests for single models do not come");
  for (const [column, note] of NARROWING) {
    // What is known of it counts.
    if (limiters.some(({ what }) => column === `${what}_id`)) continue;
    const has = textsOf(row[column]).length > 0 || Object.keys(objectOf(row[column])).length > 0;
    if (has) notes.push(note);
  }
  return notes;
}
