import { nextTurn } from "../../toolkit/next-turn.ts";
import { TooManyRules } from "./alphabet.ts";
import { createFinder, type Wanted } from "./finder.ts";
import { plainText } from "./fold.ts";
import type { Pattern } from "./pattern.ts";

/** One rule of an operator: a word to find as a whole, or a pattern. */
export interface Rule {
  readonly kind: "word" | "pattern";
  readonly text: string;
  /** What the log calls it: `words[3]`, `words.txt:17`. */
  readonly name: string;
  /** Where it is written, for problems. */
  readonly where: string;
}

export interface RuleProblem {
  readonly where: string;
  readonly message: string;
}

/** Rules that are ready. */
export interface Rules {
  /** Names of patterns that must be run on every text, because no text must occur where they do. */
  readonly unaided: readonly string[];
  /** The name of a rule that a text breaks. A promise where many patterns must be run, which happens in several turns of the event loop. */
  readonly broken: (text: string) => string | undefined | Promise<string | undefined>;
}

/** Most characters on which patterns run in one turn: a few milliseconds. */
const MOST_A_TURN = 100_000;

/** A rule with a pattern that is read. */
interface ReadPattern extends Pattern {
  readonly name: string;
}

/** Reads rules. The library of patterns is loaded where there are some. */
export async function readRules(
  rules: readonly Rule[],
): Promise<{ readonly rules?: Rules; readonly problems: readonly RuleProblem[] }> {
  const problems: RuleProblem[] = [];
  const patterns: ReadPattern[] = [];
  const hasPatterns = rules.some(({ kind }) => kind === "pattern");
  const library = hasPatterns ? await import("./pattern.ts") : undefined;
  for (const { kind, text, name, where } of rules) {
    if (kind === "word" || library === undefined) continue;
    const read = library.readPattern(text);
    if (typeof read === "string") problems.push({ where, message: read });
    else patterns.push({ ...read, name });
  }
  const words = rules.filter(({ kind }) => kind === "word");
  try {
    const { empty, ...read } = createRules(words, patterns);
    for (const { where } of empty) problems.push({ where, message: "has nothing that is seen" });
    return { rules: read, problems };
  } catch (error) {
    if (!(error instanceof TooManyRules)) throw error;
    const where = rules.at(-1)?.where ?? "";
    return { problems: [{ where, message: `is one of too many rules for one check: ${error.message}` }] };
  }
}

/** Finds words, and patterns to run, in one pass; then runs these. */
function createRules(words: readonly Rule[], patterns: readonly ReadPattern[]) {
  const owners = patterns.flatMap((pattern) => pattern.literals.map((text) => ({ pattern, text })));
  const { find, empty } = createFinder([
    ...words.map(({ text }): Wanted => ({ text, isWhole: true })),
    ...owners.map(({ text }): Wanted => ({ text, isWhole: false })),
  ]);
  // A literal without visible characters would never be found.
  const unseen = new Set(empty.map((index) => owners[index - words.length]?.pattern));
  const unaided = patterns.filter((pattern) => pattern.literals.length === 0 || unseen.has(pattern));

  function broken(text: string): string | undefined | Promise<string | undefined> {
    let word: string | undefined;
    const toRun = new Set(unaided);
    find(text, (index) => {
      word = words[index]?.name;
      const owner = owners[index - words.length]?.pattern;
      if (owner !== undefined) toRun.add(owner);
      return word !== undefined;
    });
    return word ?? (toRun.size === 0 ? undefined : occurring([...toRun], plainText(text)));
  }
  return {
    broken,
    unaided: unaided.map(({ name }) => name),
    empty: empty.flatMap((index) => words[index] ?? []),
  };
}

/** The first of some patterns that occurs in a text. Runs the rest in later turns where that takes long. */
function occurring(
  patterns: readonly ReadPattern[],
  plain: string,
): string | undefined | Promise<string | undefined> {
  const aTurn = Math.max(1, Math.floor(MOST_A_TURN / (plain.length + 1)));
  const found = patterns.slice(0, aTurn).find(({ occursIn }) => occursIn(plain))?.name;
  if (found !== undefined || patterns.length <= aTurn) return found;
  return nextTurn().then(() => occurring(patterns.slice(aTurn), plain));
}
