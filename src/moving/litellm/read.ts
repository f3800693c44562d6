import { isForeignKey } from "../../domain/access/credential.ts";
import { type Row, textOf } from "../fields.ts";
import type { HeldAccount, HeldKey, Holdings, LeftBehind } from "../holdings.ts";
import { moveRows } from "../move-rows.ts";
import { aliasesFrom, displayOfForeign } from "../names.ts";
import { moveOwner, teamOrigin, userOrigin } from "./accounts.ts";
import type { LitellmConfig, Referred } from "./config.ts";
import { type KeyDeps, moveKey } from "./keys.ts";
import { type Limiter, withBudget } from "./limiters.ts";
import { type ModelDeps, moveModels } from "./models.ts";
import { type LitellmRows, memberOf, NOBODY } from "./rows.ts";

export interface LitellmDeps extends ModelDeps {
  readonly now: number;
  /** Lower-case hexadecimal SHA-256. */
  readonly hash: (text: string) => string;
  /** The value of a variable. */
  readonly variable: (name: string) => string | undefined;
}

/** A shorter one could be guessed. */
const SHORTEST_MASTER_KEY = 16;
/** What a proxy of LiteLLM has. @param rows its keys; absent: only those that stand in the configuration */
export function holdingsOfLitellm(
  config: LitellmConfig,
  rows: LitellmRows | undefined,
  deps: LitellmDeps,
): Holdings {
  const moved = moveModels(config, rows?.modelNames ?? [], deps);
  const budgets = rows?.budgets ?? new Map<string, Row>();
  const limitersOf = (row: Row) => (rows === undefined ? [] : limitersIn(rows, row));
  const accessGroups = rows?.accessGroups ?? new Map<string, Row>();
  const teamAliasesOf = (row: Row) => {
    const team = rows?.teams.get(textOf(row.team_id) ?? "");
    return rows?.teamAliases.get(textOf(team?.model_id) ?? "")?.aliases;
  };
  const keyDeps: KeyDeps = { ...deps, ...moved, budgets, accessGroups, ownerOf, limitersOf, teamAliasesOf };
  const { keys, left: keysLeft } = moveRows(rows?.keys ?? [], "the keys", (row) => moveKey(row, keyDeps));
  const master = masterKey(config.masterKey, moved.models, deps);
  const left = [...moved.left, ...keysLeft, ...(rows?.left ?? [])];
  if (rows === undefined) {
    const why = "they are in its database: give --spend postgres://…, or --keys with the answer of /key/list";
    left.push({ kind: "key", from: "virtual keys", why });
  }
  return {
    accounts: rows === undefined ? [] : ownersOf(keys, rows),
    keys: "origin" in master ? [...keys, master] : keys,
    providerKeys: moved.providerKeys,
    prices: [],
    aliases: Object.fromEntries([...moved.models].filter(([name, id]) => name !== id)),
    left: "why" in master ? [...left, master] : left,
  };
}

function ownerOf(row: Row): string | undefined {
  const team = textOf(row.team_id);
  if (team !== undefined) return teamOrigin(team);
  const user = textOf(row.user_id);
  return user === undefined || NOBODY.includes(user) ? undefined : userOrigin(user);
}

/** Whom a key belongs to, as far as it is known of. */
function limitersIn(rows: LitellmRows, row: Row): readonly Limiter[] {
  const owner = ownerIn(rows, ownerOf(row));
  const team = textOf(row.team_id) === undefined ? undefined : owner;
  const others = [
    { what: "project", row: rows.projects.get(textOf(row.project_id) ?? "") },
    {
      what: "organization",
      row: rows.organizations.get(textOf(row.organization_id) ?? textOf(team?.organization_id) ?? ""),
    },
  ] as const;
  return [
    ...(owner === undefined ? [] : [{ what: team === undefined ? "user" : "team", row: owner } as const]),
    ...membershipIn(rows, row),
    ...others.flatMap(({ what, row: found }) =>
      found === undefined ? [] : [{ what, row: withBudget(found, rows.budgets) }],
    ),
  ];
}

function membershipIn({ memberships, budgets }: LitellmRows, row: Row): readonly Limiter[] {
  const found = memberships.get(memberOf(row));
  if (found === undefined) return [];
  const models = budgets.get(textOf(found.budget_id) ?? "")?.allowed_models;
  return [{ what: "place in its team", row: { ...withBudget(found, budgets), models } }];
}

/** The teams and users that have keys which come. */
function ownersOf(keys: readonly HeldKey[], rows: LitellmRows): HeldAccount[] {
  const origins = new Set(keys.flatMap(({ account }) => account ?? []));
  return [...origins].map((origin) => moveOwner(origin, idIn(origin), ownerIn(rows, origin)));
}

const idIn = (origin: string) => origin.slice(origin.indexOf(" ") + 1);

function ownerIn({ teams, users }: LitellmRows, origin: string | undefined): Row | undefined {
  if (origin === undefined) return undefined;
  return (origin.startsWith("team ") ? teams : users).get(idIn(origin));
}

function masterKey(
  given: Referred | undefined,
  models: LitellmKeyModels,
  { hash, variable }: LitellmDeps,
): HeldKey | LeftBehind | { readonly kind: "none" } {
  if (given === undefined) return { kind: "none" };
  const from = "master_key";
  const key = given.kind === "literal" ? given.value : variable(given.name);
  if (key === undefined) {
    const name = given.kind === "variable" ? given.name : "";
    return { kind: "key", from, why: `it is in ${name}: set that variable for this command, and repeat it` };
  }
  if (!isForeignKey(key) || key.length < SHORTEST_MASTER_KEY)
    return { kind: "key", from, why: "it is too short to be safe, or does not begin with sk-" };
  const aliases = aliasesFrom(models);
  const notes = ["makes images and videos here, and manages nothing", ...aliases.notes];
  return {
    origin: `key ${hash(key)}`,
    name: "master key",
    hash: hash(key),
    display: displayOfForeign(key),
    terms: aliases.terms,
    notes,
  };
}

type LitellmKeyModels = KeyDeps["models"];
