import type { Handling } from "./exchange.ts";

/** A parameter that stands for several segments: `/fal/:model+/requests/:request_id`. */
const SPREAD = /^([^:]*\/):(\w+)\+(?:\/([^+]+))?$/;

/** Whether a pattern has a parameter of several segments, which the other router cannot express. */
export const isSpread = (path: string): boolean => SPREAD.test(path);

interface SpreadPlace<Place> {
  /** What comes before the parameter of several segments, and its name. */
  readonly beginning: string;
  readonly name: string;
  /** The segments after it: words, and names of parameters after a colon. */
  readonly ending: readonly string[];
  readonly place: Place;
}

/** Finds the place of a path among patterns with a parameter of several segments. If several match, the longest pattern wins. */
export function createSpreadPaths<Place>(
  places: readonly (readonly [path: Handling["path"], place: Place])[],
) {
  const known = places
    .toSorted(([one], [other]) => other.split("/").length - one.split("/").length)
    .map(([path, place]): SpreadPlace<Place> => {
      const [, beginning = "", name = "", ending] = SPREAD.exec(path) ?? [];
      return { beginning, name, ending: ending?.split("/") ?? [], place };
    });
  return (path: string): { readonly place: Place; readonly textOf: (name: string) => string } | undefined => {
    for (const { beginning, name, ending, place } of known) {
      if (!path.startsWith(beginning)) continue;
      const end = endBefore(path, ending);
      if (end <= beginning.length) continue;
      const textOf = (asked: string) =>
        asked === name ? path.slice(beginning.length, end) : textIn(path.slice(end + 1), ending, asked);
      return { place, textOf };
    }
    return undefined;
  };
}

/** Where the segments before an ending end; -1 if the path does not end so. Read from its end, since patterns differ there. */
function endBefore(path: string, ending: readonly string[]): number {
  let end = path.length;
  for (let i = ending.length - 1; i >= 0; i--) {
    const slash = path.lastIndexOf("/", end - 1);
    const segment = ending[i] as string;
    const isMatch = segment.startsWith(":")
      ? slash + 1 < end
      : end - slash - 1 === segment.length && path.startsWith(segment, slash + 1);
    if (!isMatch || slash === -1) return -1;
    end = slash;
  }
  return end;
}

/** The text of a parameter; empty if there is none of this name. */
function textIn(text: string, ending: readonly string[], name: string): string {
  const place = ending.indexOf(`:${name}`);
  return place === -1 ? "" : (text.split("/")[place] ?? "");
}
