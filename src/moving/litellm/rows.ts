import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { integerOf, type Row, textOf } from "../fields.ts";
import { type LeftBehind, UnreadableSource } from "../holdings.ts";
import { MOST_ROWS, newColumns, rowsOf, type Tables, type TableWish } from "../tables/tables.ts";

/*
 * LiteLLM's tables (github.com/BerriAI/litellm, litellm/proxy/schema.prisma at 0010143, read 2026-11): virtual keys, whom they belong to,
 * and budgets and access groups that they refer to.
 */

const BUDGET = ["max_budget", "budget_duration", "rpm_limit", "tpm_limit", "max_parallel_requests"];

const KEYS: TableWish = {
  table: "LiteLLM_VerificationToken",
  by: "token",
  needed: ["token", "key_alias", "spend", "expires", "models", "user_id", "team_id", "max_budget"],
  optional: [
    ...BUDGET.slice(1),
    ...["key_name", "aliases", "blocked", "budget_id", "model_max_budget", "budget_limits", "allowed_routes"],
    ...["project_id", "organization_id", "object_permission_id", "access_group_ids", "metadata"],
  ],
  versions: {
    narrowing: ["budget_duration", "rpm_limit", "max_parallel_requests", "blocked", "budget_id"],
    known: [
      ...["soft_budget_cooldown", "config", "router_settings", "agent_id", "permissions"],
      ...["budget_reset_at", "allowed_cache_controls", "policies", "model_spend"],
      ...["created_at", "created_by", "updated_at", "updated_by", "last_active", "rotation_count"],
      ...["auto_rotate", "rotation_interval", "last_rotation_at", "key_rotation_at"],
    ],
  },
};
/** What narrows the keys of a team or a user. */
const LIMITS = ["budget_duration", "models", "rpm_limit", "max_parallel_requests"];
const TEAMS: TableWish = {
  table: "LiteLLM_TeamTable",
  by: "team_id",
  needed: ["team_id", "team_alias", "max_budget", "spend"],
  optional: [
    ...LIMITS,
    "budget_limits",
    "blocked",
    "access_group_ids",
    "organization_id",
    "model_id",
    "metadata",
  ],
};
const USERS: TableWish = {
  table: "LiteLLM_UserTable",
  by: "user_id",
  needed: ["user_id", "max_budget", "spend"],
  optional: ["user_alias", "user_email", ...LIMITS],
};
const BUDGETS: TableWish = {
  table: "LiteLLM_BudgetTable",
  by: "budget_id",
  needed: ["budget_id", "max_budget"],
  optional: [...BUDGET.slice(1), "allowed_models"],
};

/** Users in teams. A budget of theirs may say what each may spend, and which models each may use. */
const MEMBERSHIPS: TableWish = {
  table: "LiteLLM_TeamMembership",
  by: "user_id",
  needed: ["user_id", "team_id"],
  optional: ["budget_id", "spend"],
};
const ORGANIZATIONS: TableWish = {
  table: "LiteLLM_OrganizationTable",
  by: "organization_id",
  needed: ["organization_id", "models", "spend"],
  optional: ["budget_id"],
};
const PROJECTS: TableWish = {
  table: "LiteLLM_ProjectTable",
  by: "project_id",
  needed: ["project_id", "models", "spend"],
  optional: ["budget_id", "blocked"],
};
/** Other names of models, of teams that refer to them. */
const TEAM_ALIASES: TableWish = {
  table: "LiteLLM_ModelTable",
  by: "id",
  needed: ["id", "aliases"],
  optional: [],
};
const ACCESS_GROUPS: TableWish = {
  table: "LiteLLM_AccessGroupTable",
  by: "access_group_id",
  needed: ["access_group_id", "access_model_names"],
  optional: [],
};

/** Models that were added by its pages. Their settings are encrypted there with a key of its own, so that only names are read. */
const MODELS: TableWish = {
  table: "LiteLLM_ProxyModelTable",
  by: "model_id",
  needed: ["model_id", "model_name"],
  optional: [],
};

/** The user that LiteLLM's own keys have. */
export const NOBODY = ["default_user_id", "litellm-proxy-master-key"];

/** What LiteLLM has in its database. */
export interface LitellmRows {
  /** What clients ask for, of models that stand in no configuration. */
  readonly modelNames: readonly string[];
  readonly keys: readonly Row[];
  readonly teams: ReadonlyMap<string, Row>;
  readonly users: ReadonlyMap<string, Row>;
  readonly budgets: ReadonlyMap<string, Row>;
  /** By the ids of user and team; see `memberOf`. */
  readonly memberships: ReadonlyMap<string, Row>;
  readonly organizations: ReadonlyMap<string, Row>;
  readonly projects: ReadonlyMap<string, Row>;
  readonly accessGroups: ReadonlyMap<string, Row>;
  readonly teamAliases: ReadonlyMap<string, Row>;
  /** What of it is not read. */
  readonly left: readonly LeftBehind[];
}

/** @throws UnreadableSource */
export async function readDatabase(tables: Tables): Promise<LitellmRows> {
  const keys: Row[] = [];
  for await (const row of rowsOf(tables, KEYS)) keys.push(row);
  return {
    keys,
    left: await newColumns(tables, KEYS),
    teams: await byId(tables, TEAMS),
    users: await byId(tables, USERS),
    budgets: await byIdIfAny(tables, BUDGETS),
    memberships: await membershipsOf(tables),
    organizations: await byIdIfAny(tables, ORGANIZATIONS),
    projects: await byIdIfAny(tables, PROJECTS),
    accessGroups: await byIdIfAny(tables, ACCESS_GROUPS),
    teamAliases: await byIdIfAny(tables, TEAM_ALIASES),
    modelNames: [...(await byIdIfAny(tables, MODELS)).values()].flatMap(
      (row) => textOf(row.model_name) ?? [],
    ),
  };
}

/** The first versions did not have all tables. */
async function byIdIfAny(tables: Tables, wish: TableWish): Promise<Map<string, Row>> {
  return (await tables.columns(wish.table)).size === 0 ? new Map() : await byId(tables, wish);
}

/** What identifies a user in a team. */
export const memberOf = ({ user_id: user, team_id: team }: Row) => JSON.stringify([user, team]);

/** No column of theirs tells each from every other, so that they are read at once. */
async function membershipsOf(tables: Tables): Promise<Map<string, Row>> {
  const there = await tables.columns(MEMBERSHIPS.table);
  const { table, by, needed, optional } = MEMBERSHIPS;
  if (needed.some((column) => !there.has(column))) return new Map();
  const columns = [...needed, ...optional.filter((column) => there.has(column))];
  const rows = await tables.page({ table, columns, by, limit: MOST_ROWS + 1 });
  if (rows.length > MOST_ROWS) throw new UnreadableSource(`Table ${table} has more than ${MOST_ROWS} rows.`);
  return new Map(rows.map((row) => [memberOf(row), row]));
}

async function byId(tables: Tables, wish: TableWish): Promise<Map<string, Row>> {
  const found = new Map<string, Row>();
  for await (const row of rowsOf(tables, wish)) found.set(textOf(row[wish.by]) ?? "", row);
  return found;
}

/**
 * Reads what `GET /key/list?return_full_object=true` of LiteLLM's proxy answers; of several pages, a list of them.
 * @throws UnreadableSource
 */
export function readKeyList(text: string, name: string): LitellmRows {
  const answer = parsed(text, name);
  const keys = listIn(answer).map((key, index) => {
    if (typeof key === "string")
      throw new UnreadableSource(
        `${name} has hashes and nothing else. Ask for /key/list with return_full_object=true.`,
      );
    if (!isJsonObject(key) || textOf(key.token) === undefined)
      throw new UnreadableSource(`${name}: key ${index + 1} has no token.`);
    const missing = ["models", "max_budget", "spend"].filter((field) => !(field in key));
    if (missing.length > 0)
      throw new UnreadableSource(`${name}: key ${index + 1} has no ${missing.join(", ")}.`);
    return key;
  });
  refusePart(answer, keys.length, name);
  const none = new Map<string, Row>();
  const others = {
    memberships: none,
    organizations: none,
    projects: none,
    accessGroups: none,
    teamAliases: none,
  };
  return {
    keys,
    teams: none,
    users: none,
    budgets: none,
    ...others,
    modelNames: [],
    left: unknownOwners(keys),
  };
}

/** LiteLLM answers with ten keys unless it is asked for more. @throws UnreadableSource where there are keys on further pages */
function refusePart(answer: unknown, count: number, name: string): void {
  const pages = Array.isArray(answer) ? answer : [answer];
  const totals = pages.flatMap((page) => (isPage(page) ? (integerOf(page.total_count) ?? []) : []));
  const total = Math.max(0, ...totals);
  if (count < total)
    throw new UnreadableSource(
      `${name} has ${count} of ${total} keys. Ask for /key/list?return_full_object=true&size=100&page=1, then page=2 and so on, and give a list of all answers.`,
    );
}

/** What keys belong to may narrow them, and is in no list of keys. */
function unknownOwners(keys: readonly Row[]): readonly LeftBehind[] {
  const ids = ["team_id", "user_id", "project_id", "organization_id"];
  const owned = keys.filter((key) => {
    const owners = ids.flatMap((id) => textOf(key[id]) ?? []);
    return owners.some((owner) => !NOBODY.includes(owner));
  });
  if (owned.length === 0) return [];
  const why = `their models, limits and budgets are in no list of keys, so that ${owned.length === 1 ? "a key" : `${owned.length} keys`} may come wider than there: --spend reads them`;
  return [{ kind: "setting", from: "teams, users, projects and organizations", why }];
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => (isPage(each) ? each.keys : [each]));
  return isPage(value) ? value.keys : [];
}

function isPage(value: unknown): value is JsonObject & { readonly keys: readonly unknown[] } {
  return isJsonObject(value) && Array.isArray(value.keys);
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Its message would quote what stands there.
    throw new UnreadableSource(`${name} is no JSON, or not whole.`);
  }
}
