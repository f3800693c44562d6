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
  const names = new Set(lines.flatMap((line) => Object.keys(line.when ?? {})));
  const parameters = Object.fromEntries(
    [...names].flatMap((name) => {
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
  const isOpen = (name: string) => [...pricedValues(automatic, name)].some((value) => value !== AUTOMATIC);
  return Object.keys(automatic.parameters).filter(
    (name) => automatic.parameters[name] === AUTOMATIC && isOpen(name),
  );
}

function pricedValues({ lines }: AutomaticPrice, name: string): Set<string> {
  const values = lines.flatMap(({ when }) => [when?.[name] ?? []].flat());
  return new Set(values.filter((value) => typeof value === "string"));
}
