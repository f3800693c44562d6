import { ONE } from "../../domain/money/multiplier.ts";
import { microsOf } from "../amounts.ts";
import { integerOf, objectOf, type Row, textOf } from "../fields.ts";
import {
  type HeldAccount,
  type HeldPrice,
  type Holdings,
  type LeftBehind,
  UnreadableSource,
} from "../holdings.ts";
import { moveRows } from "../move-rows.ts";
import { nameOf } from "../names.ts";
import { NEW_API_CHANNELS, ONE_API_CHANNELS } from "../providers.ts";
import { type ChannelDeps, moveChannels } from "./channels.ts";
import { groupsOf } from "./groups.ts";
import type { OneApiKind, OneApiRows } from "./rows.ts";
import { moveToken, quotaMicros, type TokenDeps, userOrigin } from "./tokens.ts";

export interface OneApiDeps extends Omit<ChannelDeps, "types"> {
  readonly now: number;
  readonly hash: (text: string) => string;
}

/** Quota for a US dollar, unless an option says otherwise. */
const QUOTA_PER_UNIT = 500_000;
const ENABLED = 1;

/** What a one-api or new-api has. @throws UnreadableSource for options about money that cannot be read */
export function holdingsOfOneApi(kind: OneApiKind, rows: OneApiRows, deps: OneApiDeps): Holdings {
  const types = kind === "new-api" ? NEW_API_CHANNELS : ONE_API_CHANNELS;
  const channels = moveChannels(rows.channels, { ...deps, types });
  const perUnit = perUnitOf(rows.options);
  const groups = groupsOf(rows.options, (name) => mapIn(rows.options, name));
  const users = new Map(rows.users.map((row) => [userOrigin(row.id), row]));
  const tokenDeps: TokenDeps = { ...deps, ...channels, users, perUnit, groups };
  const { keys, left } = moveRows(rows.tokens, "table tokens", (row) => moveToken(row, tokenDeps));
  const prices = pricesOf(kind, rows.options, { models: channels.models, perUnit });
  const owners = new Set(keys.map(({ account }) => account));
  return {
    accounts: rows.users
      .filter(({ id }) => owners.has(userOrigin(id)))
      .map((row) => moveUser(row, { perUnit, groups })),
    keys,
    providerKeys: channels.providerKeys,
    prices: prices.found,
    aliases: Object.fromEntries([...channels.models].filter(([name, id]) => name !== id)),
    left: [...channels.left, ...left, ...prices.left, ...rows.left],
  };
}

function moveUser(row: Row, { perUnit, groups }: Pick<TokenDeps, "perUnit" | "groups">): HeldAccount {
  const credit = quotaMicros(row.quota, perUnit);
  const group = groups.ofUser(row);
  const { multiplier, note } = groups.price(group, group);
  const owes = (integerOf(row.quota) ?? 0) < 0;
  return {
    origin: userOrigin(row.id),
    name: nameOf(row.username, `user ${textOf(row.id)}`),
    credit: credit === "unreadable" ? (0 as HeldAccount["credit"]) : credit,
    ...(multiplier === ONE ? {} : { priceMultiplier: multiplier }),
    ...(integerOf(row.status) === ENABLED ? {} : { isSuspended: true }),
    notes: [
      ...(owes ? ["what it owes there does not come"] : []),
      ...(credit === "unreadable" ? ["its quota is no amount: it has no credit"] : []),
      ...(note === undefined ? [] : [note]),
    ],
  };
}

function perUnitOf(options: OneApiRows["options"]): number {
  const given = options.get("QuotaPerUnit");
  const perUnit = given === undefined ? QUOTA_PER_UNIT : Number(given);
  if (Number.isFinite(perUnit) && perUnit > 0) return perUnit;
  throw new UnreadableSource("The option QuotaPerUnit is no number above 0.");
}

/**
 * new-api has prices of calls; one-api has a ratio for each model, which for pictures is the quota of one in thousands. Both are of an
 * output, whatever its size.
 */
function pricesOf(
  kind: OneApiKind,
  options: OneApiRows["options"],
  { models, perUnit }: Pick<TokenDeps, "models" | "perUnit">,
): { readonly found: readonly HeldPrice[]; readonly left: readonly LeftBehind[] } {
  const found: HeldPrice[] = [];
  const left: LeftBehind[] = [];
  const calls = mapIn(options, "ModelPrice");
  const ratios = mapIn(options, "ModelRatio");
  for (const [name, model] of models) {
    const ratio = ratios[name];
    const usd =
      calls[name] ?? (kind === "one-api" && typeof ratio === "number" ? (ratio * 1000) / perUnit : undefined);
    const from = `price of ${name}`;
    const amount = usd === undefined ? undefined : microsOf(usd);
    if (amount !== undefined && !found.some((each) => each.model === model))
      found.push({ model, amount, from });
    else if (usd === undefined && ratio !== undefined)
      left.push({
        kind: "price",
        from,
        why: "it is charged by tokens there; the model's own price here stays",
      });
  }
  return { found, left };
}

/** @throws UnreadableSource for an option that is no JSON */
function mapIn(options: OneApiRows["options"], name: string) {
  const text = options.get(name) ?? "";
  const map = objectOf(text);
  if (Object.keys(map).length > 0 || text === "" || text.trim() === "{}") return map;
  throw new UnreadableSource(`The option ${name} is no JSON object. Is the database whole?`);
}
