import { suggest } from "../domain/suggest.ts";
import type { Nearby } from "../domain/words/access-words.ts";

interface Place {
  readonly next: Map<string, Place>;
}

/** A longer list tells a reader nothing. */
const MOST = 20;
const MOST_MEANT = 3;
/** A single segment, such as `status`, ends paths that have nothing in common. */
const LEAST_END = 2;

/**
 * Finds what there is instead of an unknown path. Nothing is named instead of a first segment, because what these begin differs too
 * much.
 * @param patterns the paths that exist: `/files/:file`, `/models/:model:predict`, `/fal/:model+`
 */
export function createNearbyPaths(patterns: readonly string[]): (path: string) => Nearby | undefined {
  const root: Place = { next: new Map() };
  for (const pattern of patterns) {
    let place = root;
    for (const part of partsOfPattern(pattern))
      place = place.next.getOrInsertComputed(part, () => ({ next: new Map() }));
  }
  return (path) => {
    const parts = partsOf(path);
    let place = root;
    let depth = 0;
    for (const part of parts) {
      const known = place.next.get(part) ?? parameterOf(place, part);
      if (known === undefined) break;
      place = known;
      depth += 1;
    }
    const next = [...place.next.keys()].sort();
    if (depth === 0 || next.length === 0 || next.length > MOST) return undefined;
    return { below: `/${parts.slice(0, depth).join("/")}`, next };
  };
}

/** Finds the path that an unknown one is nearly: `/v1/models` for `/v1/model`. One of its segments may be misspelt. */
export function createSimilarPaths(patterns: readonly string[]): (path: string) => string | undefined {
  const known = knownFrom(patterns);
  return (path) => {
    const parts = partsOf(path);
    const candidates = known.filter(
      ({ pattern, parts: whole }) => whole.length === parts.length && !pattern.includes("+"),
    );
    // A path may have thousands of segments.
    if (candidates.length === 0) return undefined;
    for (const [at, part] of parts.entries()) {
      const near = suggest(
        part,
        candidates.flatMap(({ parts: whole }) => {
          const differs = whole.findIndex((each, i) => !fits(each, parts[i] ?? ""));
          const name = whole[at] ?? "";
          const isOnlyHere =
            differs === at && whole.slice(at + 1).every((each, i) => fits(each, parts[at + 1 + i] ?? ""));
          return isOnlyHere && !name.startsWith("{") && !name.startsWith(":") ? [name] : [];
        }),
      );
      if (near !== undefined) return `/${parts.with(at, near).join("/")}`;
    }
    return undefined;
  };
}

/** Whether a segment of a path is that of a pattern. */
const fits = (pattern: string, part: string): boolean =>
  part === pattern || (pattern.startsWith("{") && part !== "" && !part.startsWith(":"));

/** Its segments; the verb at its end counts as one. What follows a parameter of several segments is left out. */
function partsOfPattern(pattern: string): string[] {
  const parts: string[] = [];
  for (const segment of pattern.split("/").slice(1)) {
    const [, name, spread, verb] = /^:(\w+)(\+?)(:\w+)?$/.exec(segment) ?? [];
    parts.push(name === undefined ? segment : `{${name}}`);
    if (verb !== undefined) parts.push(verb);
    if (spread === "+") break;
  }
  return parts;
}

function partsOf(path: string): string[] {
  const segments = path.split("/").slice(1);
  const [, last, verb] = /^(.+)(:[A-Za-z]+)$/.exec(segments.at(-1) ?? "") ?? [];
  return last === undefined || verb === undefined ? segments : [...segments.slice(0, -1), last, verb];
}

function parameterOf({ next }: Place, part: string): Place | undefined {
  if (part === "" || part.startsWith(":")) return undefined;
  return next.entries().find(([name]) => name.startsWith("{"))?.[1];
}

interface Known {
  readonly pattern: string;
  readonly parts: readonly string[];
}

/**
 * Finds the paths that end with an unknown one. It is what a client asks for whose base address lacks its end: `/images/generations` in
 * place of `/compat/v1/images/generations`.
 */
export function createLongerPaths(patterns: readonly string[]): (path: string) => readonly string[] {
  const known = knownFrom(patterns);
  return (path) => {
    const parts = partsOf(path);
    return fewOf(known.filter((each) => each.parts.length > parts.length && endsWith(each, parts)));
  };
}

/**
 * Finds the paths that end as an unknown one does. It is what a client asks for whose base address is that of another service:
 * `/openai/v1/images/generations` in place of `/compat/v1/images/generations`.
 */
export function createOtherBases(patterns: readonly string[]): (path: string) => readonly string[] {
  const known = knownFrom(patterns);
  const longest = Math.max(0, ...known.map(({ parts }) => parts.length));
  return (path) => {
    const parts = partsOf(path);
    for (let from = Math.max(1, parts.length - longest); from <= parts.length - LEAST_END; from++) {
      const end = parts.slice(from);
      const meant = known.filter((each) => endsWith(each, end));
      if (meant.length > 0) return fewOf(meant);
    }
    return [];
  };
}

function knownFrom(patterns: readonly string[]): Known[] {
  return [...new Set(patterns)].sort().map((pattern) => ({ pattern, parts: partsOfPattern(pattern) }));
}

/** Its first segment is compared by its name: a parameter would be the end of everything. */
function endsWith({ pattern, parts: whole }: Known, parts: readonly string[]): boolean {
  if (whole.length < parts.length || pattern.includes("+")) return false;
  const end = whole.slice(-parts.length);
  return end[0] === parts[0] && end.every((part, i) => fits(part, parts[i] ?? ""));
}

/** As they are named to a reader; none if too many. Operators' paths are left out first. */
function fewOf(meant: readonly Known[]): string[] {
  const few =
    meant.length > MOST_MEANT ? meant.filter(({ pattern }) => !pattern.startsWith("/admin/")) : meant;
  return few.length > MOST_MEANT ? [] : few.map(({ pattern }) => pattern.replace(/\/:(\w+)/g, "/{$1}"));
}
