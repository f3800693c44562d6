import { isForeignKey } from "../../domain/access/credential.ts";
import type { ModelId } from "../../domain/ids.ts";
import { integerOf, isTrue, objectOf, type Row, textOf, textsOf, timeOf } from "../fields.ts";
import type { HeldKey, LeftBehind } from "../holdings.ts";
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
}

/** A row of LiteLLM_VerificationToken as a key here, or why it cannot be one. */
export function moveKey(given: Row, deps: KeyDeps): HeldKey | LeftBehind {
  const row = withBudget(given, deps.budgets);
  const token = textOf(row.token) ?? "";
  const known = tokenOf(token, textOf(row.key_name), deps.hash);
  const name = nameOf(row.key_alias, nameOf(row.key_name, `key ${known.display}`));
  const left = (why: string): LeftBehind => ({ kind: "key", from: name, why });
  if (token === "") return left("it has no token");
  if (isTrue(row.blocked)) return left("it is blocked there");
  const expiresAt = timeOf(row.expires);
  if (expiresAt !== undefined && expiresAt <= deps.now) return left("it has expired");
  const quota = quotaOf(row);
  if (quota === "unreadable") return left("its budget is no amount");
  const allowed = textsOf(row.models);
  const isOpen = allowed.length === 0 || allowed.some((model) => ALL_MODELS.includes(model));
  const own = ownAliases(row, deps.models);
  const names = new Map([...deps.models, ...own]);
  const models = [...new Set(allowed.flatMap((model) => names.get(model) ?? []))];
  if (!isOpen && models.length === 0) return left("none of the models that it may use is here");
  const rpm = limitOf(row.rpm_limit, MOST_RPM);
  const parallel = limitOf(row.max_parallel_requests, MOST_CONCURRENCY);
  const aliases = aliasesFrom([...names].filter(([alias]) => isOpen || allowed.includes(alias)));
  return {
    origin: known.hash === undefined ? `key ${deps.hash(token)}` : `key ${known.hash}`,
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

function limitOf(value: unknown, most: number): number | undefined {
  const count = integerOf(value);
  return count === undefined || count < 1 ? undefined : Math.min(count, most);
}

/** Columns that narrow a key in ways that there are not here. */
const NARROWING: readonly (readonly [column: string, note: string])[] = [
  ["model_max_budget", "budgets for single models do not come"],
  ["budget_limits", "further budgets do not come"],
  ["allowed_routes", "its list of allowed paths does not come"],
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
