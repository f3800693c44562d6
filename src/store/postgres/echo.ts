/** The column in which each row of an answer says which statement it answers. */
export const NONCE = "svc_nonce";

/** A statement whose rows echo its last parameter. */
export interface Echoing {
  readonly text: string;
  /** Whether it changes nothing, so that it may be asked again. */
  readonly isRead: boolean;
}

const VERB = /^(?:with|select|insert|update|delete)\b/i;
const WORD = /^(?:select|insert|update|delete|returning)$/i;
/** Columns that are named by their places. */
const COUNTED = /\b(?:group|order)\s+by\s+\d/i;
const CHANGES = /\b(?:insert|update|delete)\b/i;

/**
 * Adds a first column to the rows that a statement returns or changes. It contains the parameter that follows the statement's
 * own ones.
 *
 * @returns undefined for statements without rows, such as `create table`, and for several statements in one text
 */
export function echoing(text: string, parameters: number): Echoing | undefined {
  const trimmed = text.trim();
  if (!VERB.test(trimmed) || trimmed.includes(";")) return undefined;
  const words = outerWords(trimmed);
  const [verb] = words;
  if (verb === undefined) return undefined;
  const column = `$${parameters + 1}::int4 as ${NONCE}`;
  const isRead = !CHANGES.test(trimmed);
  // These statements name columns by their place, which a column before them would change.
  if (verb.word === "select" && COUNTED.test(trimmed))
    return { text: `select ${column}, answered.* from (${trimmed}) as answered`, isRead };
  if (verb.word === "select")
    return { text: insertedAfter(trimmed, selects(trimmed, words), column), isRead };
  const returning = words.find(({ word }) => word === "returning");
  return returning === undefined
    ? { text: `${trimmed} returning ${column}`, isRead }
    : { text: insertedAfter(trimmed, [returning.end], column), isRead };
}

interface Word {
  readonly word: string;
  /** Where the text continues after it. */
  readonly end: number;
}

/** The words of a statement outside brackets, quotes and comments, as far as they show where its columns are. */
function outerWords(text: string): Word[] {
  const words: Word[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(
    /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|[()]|[a-z_][a-z0-9_$]*/gi,
  )) {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth === 0 && WORD.test(token))
      words.push({ word: token.toLowerCase(), end: index + token.length });
  }
  return words;
}

/** Where the columns of each select of a union begin. */
function selects(text: string, words: readonly Word[]): number[] {
  return words
    .filter(({ word }) => word === "select")
    .map(({ end }) => end + (/^\s+distinct(?:\s+on\s*\([^)]*\))?/i.exec(text.slice(end))?.[0].length ?? 0));
}

function insertedAfter(text: string, places: readonly number[], column: string): string {
  let made = "";
  let from = 0;
  for (const place of places) {
    made += `${text.slice(from, place)} ${column},`;
    from = place;
  }
  return made + text.slice(from);
}
