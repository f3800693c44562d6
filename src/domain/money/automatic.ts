import type { Json } from "../json.ts";
import type { Made } from "../media/made.ts";
import type { PriceLine } from "../model/model.ts";

type Parameters = { readonly [name: string]: Json };

/** The value of a parameter that leaves it to the upstream. */
const AUTOMATIC = "auto";

/** What prices a request that leaves parameters to the upstream, once it is known what was made. Kept with its quote. */
export interface AutomaticPrice {
  /** The request's, as far as they decide the price. */
  readonly parameters: Parameters;
  /** All lines of the rule. */
  readonly lines: readonly PriceLine[];
}

/** @returns undefined for a request whose price does not depend on what the upstream chooses */
export function automaticPrice(lines: readonly PriceLine[], given: Parameters): AutomaticPrice | undefined {
  // Most requests leave nothing open, and every create asks.
  if (!Object.values(given).includes(AUTOMATIC)) return undefined;
  const parameters = Object.fromEntries(
    [...pricedNames(lines).keys()].flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const automatic = { parameters, lines };
  return openParameters(automatic).length === 0 ? undefined : automatic;
}

/** The parameters as if the request had named what was made. One whose value is not known, or has no price, stays as it is. */
export function madeParameters(automatic: AutomaticPrice, made: Made): Parameters {
  const named: { readonly [name: string]: string | undefined } = { ...made };
  const told = openParameters(automatic).flatMap((name) => {
    const value = named[name];
    return value !== undefined && pricedValues(automatic, name).has(value) ? [[name, value] as const] : [];
  });
  return { ...automatic.parameters, ...Object.fromEntries(told) };
}

/** Every choice of the upstream that has a price. */
export function possibleParameters(automatic: AutomaticPrice): Parameters[] {
  return openParameters(automatic).reduce<Parameters[]>(
    (all, name) =>
      all.flatMap((each) => [...pricedValues(automatic, name)].map((value) => ({ ...each, [name]: value }))),
    [automatic.parameters],
  );
}

function openParameters(automatic: AutomaticPrice): string[] {
  return Object.keys(automatic.parameters).filter(
    (name) =>
      automatic.parameters[name] === AUTOMATIC && !pricedValues(automatic, name).isSubsetOf(LEFT_OPEN),
  );
}

const LEFT_OPEN: ReadonlySet<string> = new Set([AUTOMATIC]);
const NONE: ReadonlySet<string> = new Set();

function pricedValues({ lines }: AutomaticPrice, name: string): ReadonlySet<string> {
  return pricedNames(lines).get(name) ?? NONE;
}

/** By the lines, which are the same in all requests for a model. */
const known = new WeakMap<readonly PriceLine[], ReadonlyMap<string, ReadonlySet<string>>>();

/** The parameters that decide a price, and the texts that do so as their values. */
function pricedNames(lines: readonly PriceLine[]): ReadonlyMap<string, ReadonlySet<string>> {
  return known.getOrInsertComputed(lines, () => {
    const names = new Map<string, Set<string>>();
    for (const { when = {} } of lines) {
      for (const [name, wanted] of Object.entries(when)) {
        const values = names.getOrInsertComputed(name, () => new Set());
        for (const value of Array.isArray(wanted) ? wanted : [wanted])
          if (typeof value === "string") values.add(value);
      }
    }
    return names;
  });
}
