import { tryDecodeURIComponent } from "hono/utils/url";

/** The match of a path: its place, and the texts of its parameters. */
export interface PathMatch<Place> {
  readonly place: Place;
  /** The decoded text; empty if there is no parameter of this name. */
  readonly param: (name: string) => string;
}

/** How paths of a pattern recur: unchanged, or with only their last segment different, which is this parameter. */
export type Recurrence = { readonly last?: string | undefined };

/** Parameters that name a model, of which there are few. All others are ids. */
const NAMES: ReadonlySet<string> = new Set(["model", "owner", "name"]);

/** Most paths that are kept. Beyond this number, all are forgotten. */
const MOST_KEPT = 500;
/** Longest path that is kept, in characters. */
const LONGEST_KEPT = 200;

/**
 * How paths of a pattern recur; undefined for paths that rarely recur, because they have an id in the middle.
 * @param all every pattern; a fixed word in the place of the last parameter would be mistaken for it
 */
export function recurrenceOf(pattern: string, all: readonly string[]): Recurrence | undefined {
  const names = [...pattern.matchAll(/\/:(\w+)/g)].map(([, name = ""]) => name);
  if (names.length === 0) return undefined;
  if (names.every((name) => NAMES.has(name))) return {};
  const [, beginning, last] = /^(.*\/):(\w+)$/.exec(pattern) ?? [];
  if (beginning === undefined || names.length === 1) return undefined;
  const isWord = (other: string) =>
    other.startsWith(beginning) && /^[^:/]+$/.test(other.slice(beginning.length));
  return names.slice(0, -1).every((name) => NAMES.has(name)) && !all.some(isWord) ? { last } : undefined;
}

/** Text of a path without its escapes, but for that of the NUL character. */
export function decoded(text: string): string {
  const told = text.includes("%") ? tryDecodeURIComponent(text) : text;
  // Nothing that is stored has the NUL character, and PostgreSQL refuses to look for it.
  return told.includes("\0") ? told.replaceAll("\0", "%00") : told;
}

/**
 * Finds recurring paths that name a model with a single look-up.
 * @param compare tries all patterns, which takes longer
 */
export function withRecent<Place extends { readonly recurrence: Recurrence | undefined }>(
  compare: (path: string) => PathMatch<Place> | undefined,
) {
  const kept = new Map<string, PathMatch<Place> & Recurrence>();

  /** One of which another with this beginning came before. @param segment the last one */
  function again(beginning: string, segment: string): PathMatch<Place> | undefined {
    const before = kept.get(beginning);
    if (before === undefined) return undefined;
    const { place, param, last } = before;
    return { place, param: (name) => (name === last ? decoded(segment) : param(name)) };
  }

  /** Any other. */
  function find(path: string): PathMatch<Place> | undefined {
    const match = compare(path);
    const recurrence = match?.place.recurrence;
    if (match === undefined || recurrence === undefined || path.length > LONGEST_KEPT) return match;
    if (kept.size >= MOST_KEPT) kept.clear();
    const { last } = recurrence;
    const key = last === undefined ? path : path.slice(0, path.lastIndexOf("/") + 1);
    // The same text each time, so that look-ups by it need not hash it anew.
    const texts = new Map<string, string>();
    const param = (name: string) => texts.getOrInsertComputed(name, match.param);
    kept.set(key, { place: match.place, param, last });
    return match;
  }

  return {
    /** One that came before as it is. */
    whole: (path: string): PathMatch<Place> | undefined => kept.get(path),
    again,
    find,
  };
}
