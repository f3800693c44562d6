import { isId } from "../domain/ids.ts";
import { formatAmount } from "../domain/money/money.ts";
import { formatMultiplier } from "../domain/money/multiplier.ts";
import type { ImportMark } from "../domain/ports/import-store.ts";
import type { HeldAccount, HeldKey, Holdings, ItemKind } from "./holdings.ts";

/** What will happen to one thing of another gateway. */
export interface PlanItem {
  readonly kind: ItemKind;
  /** What it is there. */
  readonly from: string;
  /** What it is to be here, or is already. */
  readonly to?: string | undefined;
  readonly action: "bring" | "here" | "leave";
  /** What is different here, or why it cannot come. */
  readonly note: string;
}

/** What there is here already. */
export interface Here {
  readonly marks: readonly ImportMark[];
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly accountId: string;
    readonly hash: string;
    readonly revokedAt?: number | undefined;
  }[];
}

/** The origin that stands for the account which keys belong to that are nobody's. */
export const NOBODYS = "";

export interface PlannedAccount {
  readonly held: HeldAccount;
  readonly name: string;
}

export interface PlannedKey {
  readonly held: HeldKey;
  readonly name: string;
  /** The id of an account here, or the origin of one that comes too. */
  readonly account: { readonly id: string } | { readonly origin: string };
}

export interface PlannedOwners {
  readonly accounts: readonly PlannedAccount[];
  readonly keys: readonly PlannedKey[];
  readonly items: readonly PlanItem[];
}

/**
 * Which accounts and keys come, under which names. What was brought before does not come again, whatever became of it here.
 *
 * @param source what the operator calls the gateway; it tells names apart that are taken
 * @param problemOf what stands against the terms of a key
 * @param nobodys the id of the account that keys belong to which are nobody's
 */
export function planOwners(
  { accounts, keys }: Pick<Holdings, "accounts" | "keys">,
  here: Here,
  {
    source,
    problemOf,
    nobodys,
  }: {
    readonly source: string;
    readonly problemOf: (key: HeldKey) => string | undefined;
    readonly nobodys: string;
  },
): PlannedOwners {
  const known = new Map(here.marks.map(({ kind, origin, target }) => [`${kind} ${origin}`, target]));
  const owners = new Map<string, PlannedKey["account"]>([[NOBODYS, { id: nobodys }]]);
  const takenAccounts = new Set(here.accounts.map(({ name }) => name));
  const items: PlanItem[] = [];
  const planned: PlannedAccount[] = [];
  const problems = new Map(keys.map((key) => [key, problemOf(key)]));
  const owning = new Set(keys.filter((key) => problems.get(key) === undefined).map(({ account }) => account));
  for (const held of accounts) {
    const target = known.get(`account ${held.origin}`);
    // Without a key that can come, nobody could use it.
    if (target === undefined && !owning.has(held.origin)) continue;
    if (target !== undefined) {
      owners.set(held.origin, { id: target });
      const name = here.accounts.find(({ id }) => id === target)?.name;
      items.push({
        kind: "account",
        from: held.name,
        to: name ?? target,
        action: "here",
        note: "was brought before",
      });
      continue;
    }
    const name = freeName(held.name, takenAccounts, { source, isRefused: (each) => isId("acc", each) });
    owners.set(held.origin, { origin: held.origin });
    planned.push({ held, name });
    items.push({
      kind: "account",
      from: held.name,
      to: name,
      action: "bring",
      note: noted(held, name, moneyOf(held)),
    });
  }
  const plannedKeys = planKeys(keys, here, { source, problems, known, owners, items });
  return { accounts: planned, keys: plannedKeys, items };
}

function planKeys(
  keys: readonly HeldKey[],
  here: Here,
  {
    source,
    problems,
    known,
    owners,
    items,
  }: {
    readonly source: string;
    readonly problems: ReadonlyMap<HeldKey, string | undefined>;
    readonly known: ReadonlyMap<string, string>;
    readonly owners: ReadonlyMap<string, PlannedKey["account"]>;
    readonly items: PlanItem[];
  },
): PlannedKey[] {
  const byHash = new Map(here.keys.map((key) => [key.hash, key]));
  const names = new Map<string, Set<string>>();
  const namesOf = (account: PlannedKey["account"]) => {
    const key = "id" in account ? account.id : `new ${account.origin}`;
    const taken = names.get(key) ?? new Set<string>();
    names.set(key, taken);
    return taken;
  };
  for (const { accountId, name, revokedAt } of here.keys)
    if (revokedAt === undefined) namesOf({ id: accountId }).add(name);
  const byId = new Map(here.keys.map(({ id, name }) => [id, name]));
  const planned: PlannedKey[] = [];
  const seen = new Set<string>();
  for (const held of keys) {
    const tell = (action: PlanItem["action"], note: string, to?: string) =>
      void items.push({ kind: "key", from: held.name, to, action, note });
    const target = known.get(`key ${held.origin}`);
    const same = held.hash === undefined ? undefined : byHash.get(held.hash);
    const account = owners.get(held.account ?? NOBODYS);
    const problem = problems.get(held);
    if (target !== undefined) tell("here", "was brought before", byId.get(target) ?? target);
    else if (same !== undefined) tell("here", `the same key is here; it stays as it is`, same.name);
    else if (seen.has(held.origin)) tell("leave", "another one there has the same key, and comes");
    else if (problem !== undefined) tell("leave", problem);
    else if (account === undefined) tell("leave", "whom it belongs to is not there any more");
    else {
      const name = freeName(held.name, namesOf(account), { source, isRefused: (each) => isId("key", each) });
      planned.push({ held, name, account });
      tell("bring", noted(held, name, limitsOf(held)), name);
    }
    seen.add(held.origin);
  }
  return planned;
}

/** @param terms what it is to have here, as far as money is concerned */
function noted(
  { name: before, notes }: { readonly name: string; readonly notes: readonly string[] },
  name: string,
  terms: readonly string[],
) {
  return [...(name === before ? [] : ["its name is taken"]), ...terms, ...notes].join("; ");
}

function moneyOf({ credit, priceMultiplier, isSuspended }: HeldAccount): readonly string[] {
  return [
    ...(isSuspended === true ? ["suspended"] : []),
    ...(credit === undefined ? [] : [`has ${formatAmount(credit)} USD`]),
    ...factorOf(priceMultiplier),
  ];
}

function limitsOf({ terms: { quota, priceMultiplier } }: HeldKey): readonly string[] {
  const limit = quota?.limit;
  const period = quota?.reset === "total" ? "in total" : quota?.reset;
  return [
    ...(limit === undefined ? [] : [`may spend ${formatAmount(limit)} USD ${period}`]),
    ...factorOf(priceMultiplier ?? undefined),
  ];
}

const factorOf = (multiplier: number | undefined) =>
  multiplier === undefined ? [] : [`pays ${formatMultiplier(multiplier)} times the price`];

/** The name, or the first that tells it from those which are taken. Takes it. */
function freeName(
  wanted: string,
  taken: Set<string>,
  { source, isRefused }: { readonly source: string; readonly isRefused: (name: string) => boolean },
): string {
  const names = function* () {
    yield wanted;
    yield `${wanted} (${source})`;
    for (let number = 2; ; number++) yield `${wanted} (${source} ${number})`;
  };
  for (const name of names()) {
    if (taken.has(name) || isRefused(name)) continue;
    taken.add(name);
    return name;
  }
  return wanted;
}
