/* How long files and functions may be, and which may be longer. */
import { blank, type Sources } from "./source.ts";

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 60;
const MAX_MEDIAN_LINES = 90;

/** What is longer, and why that is right. Names are `path`, or `path function`. */
const LONGER: Readonly<Record<string, string>> = {
  "cli/commands.ts": "a table: one entry for each command",
  "src/config/settings.ts createSettings": "a table: one entry for each setting",
};

export function fileLengthViolations(sources: Sources): string[] {
  return [...code(sources)].flatMap(([path, text]) => {
    const lines = linesOf(text).length;
    if (lines <= MAX_FILE_LINES || path in LONGER) return [];
    return [`${path} has ${lines} lines; split it by role, ${MAX_FILE_LINES} is the limit`];
  });
}

export function medianLengthViolations(sources: Sources): string[] {
  const lengths = [...code(sources)].map(([, text]) => linesOf(text).length).sort((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  return median <= MAX_MEDIAN_LINES ? [] : [`half of all files have ${median} lines or more`];
}

export function functionLengthViolations(sources: Sources): string[] {
  return [...code(sources)].flatMap(([path, text]) =>
    functionsOf(text)
      .filter(({ name, lines }) => lines > MAX_FUNCTION_LINES && !(`${path} ${name}` in LONGER))
      .map(({ name, line, lines }) => `${path}:${line} ${name} has ${lines} lines, more than a screen`),
  );
}

/** Exceptions that nothing needs any more. */
export function needlessExceptions(sources: Sources): string[] {
  const files = [...code(sources)].filter(([, text]) => linesOf(text).length > MAX_FILE_LINES);
  const functions = [...code(sources)].flatMap(([path, text]) =>
    functionsOf(text)
      .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
      .map(({ name }) => `${path} ${name}`),
  );
  const needed = new Set([...files.map(([path]) => path), ...functions]);
  return Object.keys(LONGER).filter((name) => !needed.has(name));
}

/**
 * The functions at the top of a module and the methods of its classes, with all that is nested in them. Sources are
 * formatted, so a function ends at the first closing brace that stands alone in its own column.
 */
function functionsOf(text: string): { name: string; line: number; lines: number }[] {
  const lines = linesOf(blank(text));
  let isInClass = false;
  return lines.flatMap((start, i) => {
    if (/^\S/.test(start)) isInClass = /\bclass\b/.test(start);
    const match = /^(?<indent> *)(?:export )?(?:(?:async )?function\*? |const )?(?<name>[#\w]+)/.exec(start);
    const { indent = "", name = "" } = match?.groups ?? {};
    if (!(indent === "" ? isFunction(start) : isInClass && METHOD.test(start))) return [];
    const end = lines.findIndex((line, j) => j > i && new RegExp(`^${indent}\\}[);,]*$`).test(line));
    return end < 0 ? [] : [{ name, line: i + 1, lines: end - i + 1 }];
  });
}

function isFunction(line: string): boolean {
  return (
    /^(?:export )?(?:(?:async )?function\b|const \w+ = (?:async )?[(<])/.test(line) && !line.endsWith(";")
  );
}

const METHOD =
  /^ {2}(?:(?:async|static|override|private|get|set) )*(?!if|for|while|switch|catch|return)[#\w]+\(/;

function linesOf(text: string): string[] {
  return text.trimEnd().split("\n");
}

function code(sources: Sources): [string, string][] {
  return [...sources].filter(
    ([path]) => /^(?:src|cli|console)\/.*\.tsx?$/.test(path) && !path.endsWith(".d.ts"),
  );
}
