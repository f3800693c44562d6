import type { Json } from "../json.ts";
import type { Made } from "../media/made.ts";
import type { PriceLine } from "../model/model.ts";

type Parameters = { readonly [name: string]: Json };

/** The value that lets the upstream choose a parameter. */
const AUTOMATIC = "auto";

/**
 * What is needed to price a request that lets the upstream choose parameters, once its outputs are known. Stored with its
 * quote.
 */
export interface AutomaticPrice {
  /** The request's parameters that affect the price. */
  readonly parameters: Parameters;
  /** All lines of the rule. */
  readonly lines: readonly PriceLine[];
}

/** @returns undefined if nothing that the upstream chooses affects the price */
export function automaticPrice(lines: readonly PriceLine[], given: Parameters): AutomaticPrice | undefined {
  // A shortcut, because every create asks and most requests leave nothing to the upstream.
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

/**
 * The parameters as if the request had named what was made. A parameter stays as it is if its actual value is not known or has
 * no price.
 */
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
