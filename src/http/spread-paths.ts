import type { Handling } from "./exchange.ts";

/** A parameter that stands for several segments: `/fal/:model+/requests/:request_id`. */
const SPREAD = /\/:\w+\+(?=\/|$)/;

/** Whether a pattern has a parameter of several segments, which the other router cannot express. */
export const isSpread = (path: string): boolean => SPREAD.test(path);

interface SpreadPlace<Place> {
  readonly pattern: RegExp;
  /** A text that every such path contains after its first parameter. Searching for it is faster than trying the pattern. */
  readonly within: string;
  readonly names: readonly string[];
  readonly place: Place;
}

/** Finds the place of a path among patterns with a parameter of several segments. If several match, the longest pattern wins. */
export function createSpreadPaths<Place>(
  places: readonly (readonly [path: Handling["path"], place: Place])[],
) {
  const known = places
    .toSorted(([one], [other]) => other.split("/").length - one.split("/").length)
    .map(([path, place]): SpreadPlace<Place> => {
      const names: string[] = [];
      const pattern = path.replace(/[.]/g, "\\.").replace(/:(\w+)(\+?)/g, (_, name: string, plus: string) => {
        names.push(name);
        return plus === "" ? "([^/]+)" : "(.+)";
      });
      const [, within = ""] = /:\w+\+?([^:]*)/.exec(path) ?? [];
      return { pattern: new RegExp(`^${pattern}$`), within, names, place };
    });
  const beginnings = [...new Set(places.map(([path]) => path.slice(0, path.indexOf(":"))))];
  return (path: string): { readonly place: Place; readonly textOf: (name: string) => string } | undefined => {
    if (!beginnings.some((beginning) => path.startsWith(beginning))) return undefined;
    for (const { pattern, within, names, place } of known) {
      const match = path.includes(within) ? pattern.exec(path) : null;
      if (match !== null) return { place, textOf: (name) => textIn(match, names.indexOf(name)) };
    }
    return undefined;
  };
}

/** The text of a parameter by its place; empty if the pattern does not have the parameter. */
function textIn(match: RegExpExecArray, place: number): string {
  return place === -1 ? "" : (match[place + 1] ?? "");
}
