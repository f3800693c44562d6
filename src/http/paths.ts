import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";
import { AppError } from "../domain/errors.ts";
import type { Handling } from "./exchange.ts";
import { otherPathOf } from "./facades/spoken.ts";
import { decoded, type PathMatch, type Recurrence, recurrenceOf, withRecent } from "./recent-paths.ts";
import { createSpreadPaths, isSpread } from "./spread-paths.ts";

/** What answers a request, and the path at which it was found. */
export interface Found {
  readonly handling: Handling;
  /** As sent. */
  readonly path: string;
  /** A path parameter, decoded; empty when there is none of this name. */
  readonly param: (name: string) => string;
}

/** What answers on one path. */
interface Place {
  readonly byMethod: ReadonlyMap<string, Handling>;
  /** Absent where other methods are an unknown path. */
  readonly otherwise: Handling | undefined;
  readonly recurrence: Recurrence | undefined;
}

/**
 * Finds what answers a request. A path that exists answers other methods with 405 (unless `isKnownByMethod`), an unknown one with 404. A path may end in a verb
 * after its last parameter, `/models/:model:predict`, and a parameter may have several segments, `/fal/:model+`.
 * @param unknown answers on every other path
 * @throws for paths that cannot be told apart
 */
export function createPaths(endpoints: readonly Handling[], unknown: Handling): (request: Request) => Found {
  const exact = new Map<string, Place>();
  const endings = createEndings();
  const spread: [string, Place][] = [];
  /** By the verb at the end of the path; empty for a path without a verb. */
  const routers = new Map([["", new RegExpRouter<Place>()]]);
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const all = [...byPath.keys()];
  for (const [path, handlings] of byPath) {
    const byMethod = new Map(handlings.map((handling) => [handling.method, handling]));
    const recurrence = recurrenceOf(path, all);
    const isUnknown = handlings.every(({ isKnownByMethod }) => isKnownByMethod === true);
    const otherwise = isUnknown ? undefined : methodNotAllowed(path, byPath);
    const place = { byMethod, otherwise, recurrence };
    const [, pattern = path, verb = ""] = WITH_VERB.exec(path) ?? [];
    if (isSpread(path)) spread.push([path, place]);
    else if (!path.includes(":")) exact.set(path, place);
    else {
      if (verb === "") endings.add(path, place);
      routers.getOrInsertComputed(verb, () => new RegExpRouter<Place>()).add("ALL", pattern, place);
    }
  }

  const spreadAt = createSpreadPaths(spread);
  const matchOf = (path: string) => {
    const [, before = "", verb = ""] = path.includes(":") ? (VERB.exec(path) ?? []) : [];
    const match = verb === "" ? undefined : routers.get(verb)?.match("ALL", before);
    return match?.[0].length ? match : (routers.get("")?.match("ALL", path) ?? []);
  };
  /** By the patterns of all that have parameters. */
  const recent = withRecent((path): PathMatch<Place> | undefined => {
    // These are the only ones below where they begin, and the router of the others takes its time to find none.
    const wide = spreadAt(path);
    if (wide !== undefined) return { place: wide.place, param: (name) => decoded(wide.textOf(name)) };
    const [[first] = [], texts = []] = matchOf(path);
    if (first === undefined) return undefined;
    const [place, positions] = first;
    return { place, param: (name) => decoded(texts[Number(positions[name])] ?? "") };
  });
  const matched = (path: string): PathMatch<Place> | undefined => {
    const known = exact.get(path);
    if (known !== undefined) return { place: known, param: NONE };
    return recent.whole(path) ?? byBeginning(path, endings.match, recent.again) ?? recent.find(path);
  };
  const found = (path: string, as: string, request: Request): Found | undefined => {
    const match = matched(as);
    const handling = match && handlingOf(match.place, request, as);
    return handling && { handling, path, param: match.param };
  };

  return (request) => {
    const path = pathOf(request);
    const here = found(path, path, request);
    if (here !== undefined) return here;
    const elsewhere = otherPathOf(path, request);
    const there = elsewhere === undefined ? undefined : found(path, elsewhere, request);
    return there ?? { handling: unknown, path, param: NONE };
  };
}

type ByBeginning = (beginning: string, last: string) => PathMatch<Place> | undefined;

/** Looks a path up by what comes before its last segment, which may be missing, or end in a verb and belong to another pattern. */
function byBeginning(path: string, first: ByBeginning, second: ByBeginning): PathMatch<Place> | undefined {
  const from = path.lastIndexOf("/") + 1;
  const last = path.slice(from);
  if (last === "" || last.includes(":")) return undefined;
  const beginning = path.slice(0, from);
  return first(beginning, last) ?? second(beginning, last);
}

/**
 * Patterns with one parameter, which is their last segment: `/assets/:file`. The most frequent requests are among them. A
 * look-up by the text before the parameter takes a tenth of the router's time. A segment with a colon may end in a verb, so the
 * router handles it.
 */
function createEndings() {
  const byBeginning = new Map<string, { readonly name: string; readonly place: Place }>();
  return {
    /** Stores a pattern if it is one of these. */
    add(path: string, place: Place): void {
      const [, beginning, name] = /^([^:]*\/):(\w+)$/.exec(path) ?? [];
      if (beginning !== undefined && name !== undefined) byBeginning.set(beginning, { name, place });
    },
    match(beginning: string, last: string): PathMatch<Place> | undefined {
      const known = byBeginning.get(beginning);
      if (known === undefined) return undefined;
      const { place, name } = known;
      return { place, param: (asked) => (asked === name ? decoded(last) : "") };
    },
  };
}

/** A pattern that ends in a verb, such as `/models/:model:predict`. */
const WITH_VERB = /^(.*\/:\w+):([A-Za-z]+)$/;
/** The same of a path. */
const VERB = /^(.*\/[^/]*):([A-Za-z]+)$/;

const NONE = () => "";

/** HEAD is asked as GET is. A verb that there is not is undefined, and no method that what stands before it lacks. */
function handlingOf({ byMethod, otherwise }: Place, { method }: Request, path: string): Handling | undefined {
  const handling = byMethod.get(method === "HEAD" ? "GET" : method);
  if (handling !== undefined) return handling;
  if (otherwise === undefined) return undefined;
  return VERB.test(path) && !WITH_VERB.test(otherwise.path) ? undefined : otherwise;
}

function methodNotAllowed(path: string, byPath: ReadonlyMap<string, readonly Handling[]>): Handling {
  const handlings = byPath.get(path) ?? [];
  // A caller often means the path that ends before the last parameter.
  const above = path.replace(/\/:\w+$/, "");
  const places = above === path ? [] : (byPath.get(above) ?? []);
  const allow = handlings.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return {
    method: "GET",
    path,
    access: "public",
    isSecret: handlings.some(({ isSecret }) => isSecret === true),
    handle: ({ request }) => {
      const { method } = request;
      const instead = places.find((each) => each.method === method)?.path;
      const facts = { kind: "method_not_allowed", method, allow, instead } as const;
      throw new AppError("method_not_allowed", facts, { allow });
    },
  };
}

/**
 * The path as sent, with `//` read as `/` and without a slash at its end, because clients write both if a base URL ends in a
 * slash. Bun has already resolved dots and backslashes. Without a usable Host header (HTTP/1.0 probes, hostile callers), Bun's
 * `url` is only the path.
 */
function pathOf(request: Request): string {
  const path = request.url.startsWith("/") ? (request.url.split("?", 1)[0] ?? "/") : getPath(request);
  const single = path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path;
  return single.endsWith("/") && single !== "/" ? single.slice(0, -1) : single;
}
