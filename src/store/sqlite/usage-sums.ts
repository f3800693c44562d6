import type { UsageGroup } from "../../domain/money/usage.ts";
import type { UsageQuery } from "../../domain/ports/usage-store.ts";
import { PLACE, type UsageSum } from "./usage-pages.ts";

/** Which parts of a sum's place the lines of a report tell apart. */
export interface ToldApart {
  readonly account: boolean;
  readonly day: boolean;
  readonly key: boolean;
  readonly model: boolean;
  readonly provider: boolean;
}

export function toldApartBy({ by, and, accountId }: UsageQuery): ToldApart {
  const has = (group: UsageGroup) => by === group || and === group;
  return {
    account: accountId !== undefined || has("account") || has("key"),
    ...{ day: has("day"), key: has("key"), model: has("model"), provider: has("provider") },
  };
}

/** Adds sums up by what a report tells apart, of its days. What it does not tell apart is null, empty, or the first of its days. */
export function createUsageSums(query: UsageQuery) {
  const { from, to } = query;
  const is = toldApartBy(query);
  const added = new Map<string, (number | string | null)[]>();
  /** What would make a sum too large for a number. The database adds these up. */
  const beside: (number | string | null)[][] = [];
  const texts: string[] = [];

  function placeIn([account, day, key, model, provider]: UsageSum): (number | string | null)[] {
    return [
      ...[is.account ? account : null, is.day ? day : from, is.key ? key : null, is.model ? model : null],
      is.provider ? provider : "",
    ];
  }

  function addOne(sum: UsageSum): void {
    const place = placeIn(sum);
    const name = place.join(" ");
    const before = added.get(name);
    if (before !== undefined && areSafe(before, sum)) {
      for (let i = PLACE; i < sum.length; i++) before[i] = Number(before[i]) + Number(sum[i]);
      return;
    }
    if (before !== undefined) beside.push(before);
    added.set(name, [...place, ...sum.slice(PLACE)]);
  }

  return {
    add(sums: readonly UsageSum[]): void {
      for (const sum of sums) if (sum[1] >= from && sum[1] <= to) addOne(sum);
    },
    /** Adds sums that a database has added up to what the report asks for, as JSON without the brackets around the list. */
    addText(sums: string): void {
      if (sums !== "") texts.push(sums);
    },
    /** As JSON. */
    text: (): string =>
      `[${[...[...added.values(), ...beside].map((sum) => JSON.stringify(sum)), ...texts].join(",")}]`,
  };
}

/** Whether numbers can hold what two sums come to. */
function areSafe(one: readonly (number | string | null)[], other: UsageSum): boolean {
  for (let i = PLACE; i < other.length; i++)
    if (!Number.isSafeInteger(Number(one[i]) + Number(other[i]))) return false;
  return true;
}
