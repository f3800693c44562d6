/*
 * Reading source text well enough to judge it: without comments and strings, and with its import specifiers.
 * Bun's own import scanner drops type-only imports, which count here.
 */

/** Path relative to the repository → text. */
export type Sources = ReadonlyMap<string, string>;
export type Import = { specifier: string; line: number };

const REGEX_MAY_FOLLOW =
  /(?:^|[([{,;=:!&|?+\-*%<>~^}]|\b(?:return|typeof|case|in|of|do|else|await|yield|void|delete))\s*$/;

/** What may begin or end something that is blanked. */
const EDGE = /["'`/{}]/g;

const blanked = new Map<string, string>();

/** The text with comments and the insides of strings and regular expressions blanked; every offset stays the same. */
export function blank(text: string): string {
  return blanked.getOrInsertComputed(text, blankAnew);
}

function blankAnew(text: string): string {
  let out = "";
  const keep = (to: number) => {
    out += text.slice(out.length, to);
  };
  const erase = (from: number, to: number) => {
    keep(from);
    out += text.slice(from, to).replace(/[^\n]/g, " ");
  };
  const braces: ("code" | "template")[] = [];
  let i = nextEdge(text, 0);
  while (i < text.length) {
    const here = text[i];
    if (text.startsWith("//", i)) {
      const end = endOr(text.indexOf("\n", i), text.length);
      erase(i, end);
      i = end;
    } else if (text.startsWith("/*", i)) {
      const end = endOr(text.indexOf("*/", i + 2) + 2, text.length, 1);
      erase(i, end);
      i = end;
    } else if (here === '"' || here === "'") {
      const end = closing(text, i + 1, here);
      erase(i + 1, end);
      i = end + 1;
    } else if (here === "/") {
      keep(i);
      if (REGEX_MAY_FOLLOW.test(out.slice(-60))) {
        const end = closingRegex(text, i + 1);
        erase(i + 1, end);
        i = end;
      }
      i += 1;
    } else if (here === "`" || (here === "}" && braces.at(-1) === "template")) {
      if (here === "}") braces.pop();
      const end = templatePart(text, i + 1);
      erase(i + 1, end);
      if (text[end] === "$") braces.push("template");
      i = text[end] === "$" ? end + 2 : end + 1;
    } else {
      if (here === "{") braces.push("code");
      if (here === "}") braces.pop();
      i += 1;
    }
    i = nextEdge(text, i);
  }
  keep(text.length);
  return out;
}

function nextEdge(text: string, from: number): number {
  EDGE.lastIndex = from;
  return EDGE.exec(text)?.index ?? text.length;
}

/** Every module the text names: static, type-only, re-exported, dynamic, required. */
export function importsOf(text: string): Import[] {
  const code = blank(text);
  const patterns = [
    /\b(?:import|export)\b[^;"'`]*?\bfrom\s*(["'])/g,
    /\bimport\s*(["'])/g,
    /\bimport\s*\(\s*(["'`])/g,
    /\brequire(?:\.resolve)?\s*\(\s*(["'`])/g,
  ];
  const found = patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => {
      const start = match.index + match[0].length;
      const quote = match[1] ?? '"';
      return { specifier: text.slice(start, text.indexOf(quote, start)), line: lineAt(text, match.index) };
    }),
  );
  return found.sort((a, b) => a.line - b.line);
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function endOr(found: number, fallback: number, missing = -1): number {
  return found === missing ? fallback : found;
}

/** Strings end at their quote, or at the end of the line if the quote was only an apostrophe in JSX text. */
function closing(text: string, from: number, quote: string): number {
  let i = from;
  while (i < text.length && text[i] !== quote && text[i] !== "\n") i += text[i] === "\\" ? 2 : 1;
  return Math.min(i, text.length);
}

function closingRegex(text: string, from: number): number {
  let inClass = false;
  let i = from;
  while (i < text.length && text[i] !== "\n" && (inClass || text[i] !== "/")) {
    if (text[i] === "[") inClass = true;
    if (text[i] === "]") inClass = false;
    i += text[i] === "\\" ? 2 : 1;
  }
  return Math.min(i, text.length);
}

/** Up to the closing backtick or the `$` of the next `${`. */
function templatePart(text: string, from: number): number {
  let i = from;
  while (i < text.length && text[i] !== "`" && !text.startsWith("${", i)) i += text[i] === "\\" ? 2 : 1;
  return Math.min(i, text.length);
}
