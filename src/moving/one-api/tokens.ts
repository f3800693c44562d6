import { isForeignKey } from "../../domain/access/credential.ts";
import type { ModelId } from "../../domain/ids.ts";
import type { Micros } from "../../domain/money/money.ts";
import { microsOf } from "../amounts.ts";
import { countIn, flagIn, integerOf, type Row, textOf, textsIn, UnreadableValue } from "../fields.ts";
import type { HeldKey, LeftBehind } from "../holdings.ts";
import { moveRow } from "../move-rows.ts";
import { aliasesFrom, displayOfForeign, nameOf } from "../names.ts";
import type { MovedChannels } from "./channels.ts";
import type { Groups } from "./groups.ts";

const ENABLED = 1;
/** What else a status may be. */
const ENDED: Readonly<Record<number, string>> = {
  2: "it is switched off there",
  3: "it has expired",
  4: "it is used up there",
};
const NEVER = -1;
/** Seconds beyond this are no time that anybody means, but milliseconds. */
const LATEST_SEC = 100_000_000_000;

export interface TokenDeps extends Pick<MovedChannels, "models" | "modelsOf"> {
  readonly now: number;
  readonly hash: (text: string) => string;
  /** Quota that is one US dollar. */
  readonly perUnit: number;
  /** The rows of users, by their origin. */
  readonly users: ReadonlyMap<string, Row>;
  readonly groups: Groups;
}

export const userOrigin = (id: unknown) => `user ${textOf(id)}`;

/** A token as a key here, or why it cannot be one. The key is kept there without the `sk-` that clients send before it. */
export function moveToken(row: Row, deps: TokenDeps): HeldKey | LeftBehind {
  const id = textOf(row.id) ?? "?";
  const name = nameOf(row.name, `token ${id}`);
  const from = `token ${id} (${name})`;
  const keyOrigin = originOf(secretOf(row), deps.hash);
  const left = (why: string): LeftBehind => ({ kind: "key", from, why, keyOrigin });
  return moveRow(left, () => moveKnown(row, { ...deps, name, left }));
}

/** A token as clients send it. */
function secretOf(row: Row): string | undefined {
  // MySQL and PostgreSQL fill a column of fixed length up with blanks.
  const kept = textOf(row.key)?.trim();
  if (kept === undefined || kept === "") return undefined;
  return kept.startsWith("sk-") ? kept : `sk-${kept}`;
}

const originOf = (secret: string | undefined, hash: TokenDeps["hash"]) =>
  secret === undefined ? undefined : `key ${hash(secret)}`;

interface Known {
  readonly name: string;
  readonly left: (why: string) => LeftBehind;
}

/** @throws UnreadableValue for what narrows it and cannot be read */
function moveKnown(row: Row, { name, left, ...deps }: TokenDeps & Known): HeldKey | LeftBehind {
  const secret = secretOf(row);
  if (secret === undefined) return left("it has no key");
  const status = countIn(row, "status");
  if (status !== ENABLED)
    return left(ENDED[status ?? 0] ?? `its status is ${status ?? "empty"}, which no known version has`);
  const expiresAt = expiryOf(row);
  if (expiresAt !== undefined && expiresAt <= deps.now) return left("it has expired");
  const limit = flagIn(row, "unlimited_quota") ? undefined : quotaMicros(row.remain_quota, deps.perUnit);
  if (limit === "unreadable") return left("its quota is no amount");
  const may = modelsFor(row, deps);
  if (may.models?.length === 0) return left(may.why);
  const canStay = isForeignKey(secret);
  const aliases = aliasesFrom(may.names);
  const addresses = [...textsIn(row, "allow_ips"), ...textsIn(row, "subnet")];
  const price = priceFor(row, deps);
  return {
    origin: `key ${deps.hash(secret)}`,
    ...{ name, account: userOrigin(row.user_id), display: displayOfForeign(secret) },
    hash: canStay ? deps.hash(secret) : undefined,
    terms: {
      ...(may.models === undefined ? {} : { models: may.models }),
      ...aliases.terms,
      ...(addresses.length === 0 ? {} : { allowIps: addresses }),
      ...(limit === undefined ? {} : { quota: { limit, reset: "total" as const } }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(price.multiplier === undefined ? {} : { priceMultiplier: price.multiplier }),
    },
    notes: [
      ...(canStay ? [] : ["gets a new secret: its own has a form that is not taken here"]),
      ...price.notes,
      ...aliases.notes,
    ],
  };
}

interface Allowed {
  /** What the names of models that it may ask for stand for here. */
  readonly names: readonly (readonly [string, ModelId])[];
  /** The models that it may use; absent: all. */
  readonly models?: readonly ModelId[];
  /** Why it may use none. */
  readonly why: string;
}

/** A token may use what channels of its group have, of that what it is limited to. */
function modelsFor(row: Row, { models, modelsOf, users, groups }: TokenDeps): Allowed {
  const own = groups.ofToken(row, users.get(userOrigin(row.user_id))).map(modelsOf);
  // Of several groups, the first that has a model serves it.
  const ofGroup = new Map(own.toReversed().flatMap((each) => [...each]));
  const allowed = allowedOf(row);
  const names = [...ofGroup].filter(([name]) => allowed === undefined || allowed.includes(name));
  const why =
    allowed === undefined
      ? "none of its group's models is here"
      : "none of the models that it may use is here";
  const ids = [...new Set(names.map(([, id]) => id))];
  const all = new Set(models.values());
  const isOpen = allowed === undefined && ids.length === all.size;
  return isOpen ? { names, why } : { names, why, models: ids };
}

/** The factor on prices that a token has in place of its user's, if it is in another group. */
function priceFor(row: Row, { users, groups }: TokenDeps) {
  const user = users.get(userOrigin(row.user_id));
  const userGroup = groups.ofUser(user);
  const [group = userGroup, ...others] = groups.ofToken(row, user);
  const own = groups.price(userGroup, userGroup);
  const { multiplier, note } = groups.price(userGroup, group);
  const isSame = multiplier === own.multiplier;
  const notes = [
    ...(others.length === 0 ? [] : [`its group is one of several there: it pays as in ${group}`]),
    ...(note === undefined || group === userGroup ? [] : [note]),
  ];
  return { multiplier: isSame ? undefined : multiplier, notes };
}

function expiryOf(row: Row): number | undefined {
  const seconds = countIn(row, "expired_time") ?? NEVER;
  if (seconds > LATEST_SEC) throw new UnreadableValue("expired_time", "time in seconds");
  return seconds === NEVER ? undefined : seconds * 1000;
}

/** An amount of quota in micro-units of a US dollar. What is owed counts as nothing. */
export function quotaMicros(quota: unknown, perUnit: number): Micros | "unreadable" {
  const count = integerOf(quota);
  return count === undefined ? "unreadable" : (microsOf(Math.max(0, count) / perUnit) ?? "unreadable");
}

/**
 * The models that a token is limited to; undefined where it is not. new-api has a switch for the list, which allows nothing while it is
 * on and the list is empty (middleware/distributor.go, read 2026-11). one-api has the list alone.
 */
function allowedOf(row: Row): readonly string[] | undefined {
  if (row.model_limits !== undefined)
    return flagIn(row, "model_limits_enabled") ? textsIn(row, "model_limits") : undefined;
  const listed = textsIn(row, "models");
  return listed.length === 0 ? undefined : listed;
}
