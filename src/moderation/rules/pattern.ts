import { RE2JS, RE2JSSyntaxException } from "re2js";
import { plainText } from "./fold.ts";

/** A pattern in RE2's syntax, which is matched in time that grows with the text alone. */
export interface Pattern {
  /** Whether it occurs in a text, as `plainText` gives it. */
  readonly occursIn: (plain: string) => boolean;
  /** Texts of which one must occur where the pattern does; empty where there are none that are worth looking for. */
  readonly literals: readonly string[];
}

/** Shorter texts occur nearly everywhere. */
const SHORTEST_LITERAL = 2;
/** More alternatives than this are not worth a place for each. */
const MOST_LITERALS = 100;

/**
 * Reads a pattern. It is matched in any case, unless it begins with `(?-i)`.
 *
 * @returns what is wrong with it, as a text, for what is no pattern
 */
export function readPattern(given: string): Pattern | string {
  const text = plainText(given);
  try {
    const compiled = RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
    if (compiled.test("")) return "matches the empty text, and so every text";
    return { occursIn: (plain) => compiled.test(plain), literals: literalsOf(text) };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      return `is no pattern (RE2 syntax): ${error.getDescription()}${faultOf(error, text)}`;
    throw error;
  }
}

/** The part that is at fault, where it is not all of it. */
function faultOf(error: RE2JSSyntaxException, text: string): string {
  // The library puts the flag before it.
  const part = error.getPattern()?.replace(/^\(\?i\)/, "") ?? "";
  return part === "" || part === text ? "" : `: ${part}`;
}

/** What the library looks for before it runs a pattern: a text, all or one of several such, or nothing. It keeps this to itself. */
interface Prefilter {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly Prefilter[];
}
const [EXACT, ALL, ONE] = [1, 2, 3];

/** Compiled with case, in which texts are looked for; those of the pattern in any case are the same, in some case. */
function literalsOf(text: string): readonly string[] {
  const exact = text.replace(/^\(\?[a-z]*i[a-z]*\)/, (flags) =>
    flags === "(?i)" ? "" : flags.replace("i", ""),
  );
  const { prefilter } = RE2JS.compile(exact).re2Input;
  const literals = prefilter === null ? [] : (neededOf(prefilter as Prefilter) ?? []);
  return literals.length > MOST_LITERALS ? [] : literals;
}

/** One of these must occur; undefined where the library's needs are not known, or are met by nearly every text. */
function neededOf({ type, str, subs }: Prefilter): readonly string[] | undefined {
  const needs = subs.map(neededOf);
  switch (type) {
    case EXACT:
      return [...str].length < SHORTEST_LITERAL ? undefined : [str];
    case ALL:
      return needs.reduce((best, each) => (shortest(each) > shortest(best) ? each : best), undefined);
    case ONE:
      return needs.some((each) => each === undefined) ? undefined : needs.flatMap((each) => each ?? []);
    default:
      return undefined;
  }
}

function shortest(literals: readonly string[] | undefined): number {
  return literals === undefined ? 0 : Math.min(...literals.map(({ length }) => length));
}
