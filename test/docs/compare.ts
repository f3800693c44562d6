/** What differs from run to run, and what stands for it on both sides of a comparison. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\b(task|acc|key|att|req|cb|asset)_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_ID"],
  [/\b([sm][kt]-svc)-[0-9A-Za-z]{38}\b/g, "$1-SECRET"],
  [/\b(sk-svc)-[0-9A-Za-z]{4}…[0-9A-Za-z]{4}/g, "$1-SHORT"],
  [/\bwhsec_[0-9A-Za-z+/=]+/g, "whsec_SECRET"],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{3})?Z/g, "TIME"],
  [/\b\d{4}-\d\d-\d\d\b/g, "DAY"],
  [/\b1[78]\d{8}\b/g, "UNIX"],
  [/\b\d+(\.\d+)? m?s\b/g, "DURATION"],
  // Midnight may fall between two tasks.
  [/^usage days\s+[12]$/g, "usage days COUNT"],
  // A column's arrow, which is only there on a terminal.
  [/\s->\s/g, " "],
];

function masked(text: string): string {
  return CHANGING.reduce((rest, [pattern, name]) => rest.replace(pattern, name), text)
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The first line of an expected output that the actual one does not have, after those before it. Ids, times and spacing may
 * differ, and `…` stands for anything; lines that nobody expects are passed over, so that a document can leave some out.
 */
export function missingLine(expected: readonly string[], actual: string): string | undefined {
  const lines = Bun.stripANSI(actual)
    .split(/[\r\n]+/)
    .map(masked);
  let at = 0;
  for (const line of expected) {
    if (line.trim() === "" || line.trim() === "…") continue;
    const pattern = new RegExp(`^${masked(line).split("…").map(escapeRegExp).join(".*")}$`);
    const found = lines.findIndex((each, i) => i >= at && pattern.test(each));
    if (found < 0) return line;
    at = found + 1;
  }
  return undefined;
}

/**
 * The same for JSON: the first member of the expected object that the actual one does not have or has otherwise. Members that
 * nobody expects are passed over.
 */
export function missingFromJson(expected: string, actual: string): string | undefined {
  const [begin, end] = [actual.indexOf("{"), actual.lastIndexOf("}")];
  if (begin < 0) return expected;
  const have = leavesOf(JSON.parse(actual.slice(begin, end + 1)));
  for (const [path, value] of leavesOf(JSON.parse(expected))) {
    const found = have.get(path);
    if (found === undefined || missingLine([value], found) !== undefined) return `${path} = ${value}`;
  }
  return undefined;
}

/** Everything in a JSON value that holds no other value, by its path. */
function leavesOf(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== "object" || value === null) return into.set(path, JSON.stringify(value));
  for (const [name, member] of Object.entries(value)) leavesOf(member, `${path}/${name}`, into);
  return into;
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
