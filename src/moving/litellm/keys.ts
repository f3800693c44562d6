import { isForeignKey } from "../../domain/access/credential.ts";
import type { ModelId } from "../../domain/ids.ts";
import {
  countIn,
  flagIn,
  integerOf,
  objectOf,
  type Row,
  textOf,
  textsIn,
  textsOf,
  timeIn,
} from "../fields.ts";
import type { HeldKey, LeftBehind } from "../holdings.ts";
import { moveRow } from "../move-rows.ts";
import { aliasesFrom, displayOfForeign, nameOf } from "../names.ts";
import { quotaOf } from "./budgets.ts";

/** LiteLLM's words for "whatever there is". */
const ALL_MODELS = ["all-proxy-models", "all-team-models", "*"];
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
  /** The row of the team or user that it belongs to, where there is one. */
  readonly ownersRow: (row: Row) => Row | undefined;
}

/** Converts a row of LiteLLM_VerificationToken to a key here, or says why it cannot be one. */
export function moveKey(given: Row, deps: KeyDeps): HeldKey | LeftBehind {
  const token = textOf(given.token) ?? "";
  const known = tokenOf(token, textOf(given.key_name), deps.hash);
  const name = nameOf(given.key_alias, nameOf(given.key_name, `key ${known.display}`));
  const left = (why: string): LeftBehind => ({ kind: "key", from: name, why });
  if (token === "") return left("it has no token");
  return moveRow(left, () => moveKnown(given, { ...deps, name, known, left }));
}

interface Known {
  readonly name: string;
  readonly known: ReturnType<typeof tokenOf>;
  readonly left: (why: string) => LeftBehind;
}

/** @throws UnreadableValue for what narrows it and cannot be read */
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
  const quota = quotaOf(row);
  if (quota === "unreadable") return left("its budget is no amount");
  const own = ownAliases(row, deps.models);
  const names = new Map([...deps.models, ...own]);
  const allows = allowedBy(row, deps.ownersRow(row));
  const isOpen = allows === undefined;
  const allowed = allows ?? [];
  const models = [...new Set(allowed.flatMap((model) => names.get(model) ?? []))];
  if (!isOpen && models.length === 0) return left("none of the models that it may use is here");
  const rpm = limitOf(countIn(row, "rpm_limit"), MOST_RPM);
  const parallel = limitOf(countIn(row, "max_parallel_requests"), MOST_CONCURRENCY);
  const aliases = aliasesFrom([...names].filter(([alias]) => isOpen || allowed.includes(alias)));
  return {
    origin: `key ${known.hash ?? deps.hash(token)}`,
    ...{ name, account: deps.ownerOf(row), hash: known.hash, display: known.display },
    terms: {
      ...(isOpen ? {} : { models }),
      ...aliases.terms,
      ...(rpm === undefined ? {} : { requestsPerMinute: rpm }),
      ...(parallel === undefined ? {} : { concurrency: parallel }),
      ...(quota === undefined ? {} : { quota: { limit: quota.limit, reset: quota.reset } }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
    notes: [...notesOf(row, quota?.note, known.hash), ...aliases.notes],
  };
}

/** The models that a key may use: its own, of those that its team or user may use. @returns undefined for all */
function allowedBy(row: Row, owner: Row | undefined): readonly string[] | undefined {
  const lists = [textsIn(row, "models"), ...(owner === undefined ? [] : [textsIn(owner, "models")])];
  const [first, ...others] = lists.filter(
    (list) => list.length > 0 && !list.some((model) => ALL_MODELS.includes(model)),
  );
  return first?.filter((model) => others.every((list) => list.includes(model)));
}

/** A budget that a key refers to counts where it has none of its own. */
function withBudget(row: Row, budgets: ReadonlyMap<string, Row>): Row {
  const budget = budgets.get(textOf(row.budget_id) ?? "");
  if (budget === undefined) return row;
  const fields = ["max_budget", "budget_duration", "rpm_limit", "tpm_limit", "max_parallel_requests"];
  const added = fields.flatMap((field) =>
    (row[field] ?? undefined) === undefined ? [[field, budget[field]]] : [],
  );
  return { ...row, ...Object.fromEntries(added) };
}

/** LiteLLM keeps the SHA-256 of a key, as this service does. Very old versions kept the key itself. */
function tokenOf(token: string, keyName: string | undefined, hash: (text: string) => string) {
  if (HASH.test(token)) return { hash: token, display: keyName ?? "sk-…" };
  const display = displayOfForeign(token);
  return isForeignKey(token) ? { hash: hash(token), display } : { hash: undefined, display };
}

function ownAliases(row: Row, models: ReadonlyMap<string, ModelId>): [string, ModelId][] {
  return Object.entries(objectOf(row.aliases)).flatMap(([alias, of]): [string, ModelId][] => {
    const id = typeof of === "string" ? models.get(of) : undefined;
    return id === undefined ? [] : [[alias, id]];
  });
}

function limitOf(count: number | undefined, most: number): number | undefined {
  return count === undefined || count < 1 ? undefined : Math.min(count, most);
}

/** Columns that narrow a key in ways that there are not here. */
const NARROWING: readonly (readonly [column: string, note: string])[] = [
  ["model_max_budget", "budgets for single models do not come"],
  ["budget_limits", "further budgets do not come"],
  ["allowed_routes", "its list of allowed paths does not come"],
  ["project_id", "limits of its project do not come"],
  ["organization_id", "limits of its organization do not come"],
  ["object_permission_id", "permissions for single objects do not come"],
];

function notesOf(row: Row, quotaNote: string | undefined, hash: string | undefined): string[] {
  const notes = quotaNote === undefined ? [] : [quotaNote];
  if (hash === undefined) notes.push("gets a new secret: its own is not kept in a form that can go on");
  if (integerOf(row.tpm_limit) !== undefined) notes.push("tokens per minute mean nothing here");
  for (const [column, note] of NARROWING) {
    const has = textsOf(row[column]).length > 0 || Object.keys(objectOf(row[column])).length > 0;
    if (has) notes.push(note);
  }
  return notes;
}
