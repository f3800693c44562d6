const SPACE = /[\t\n\r ]*/y;
/** A text has no control characters, which are below the space. */
const TOKEN =
  /[{}[\],:]|"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What may come next. */
type Next = "value" | "value or ]" | "name" | "name or }" | ":" | ", or ]" | ", or }" | "end";

const EXPECTED: Readonly<Record<Next, string>> = {
  value: "a value",
  "value or ]": "a value or ]",
  name: "a name in double quotes",
  "name or }": "a name in double quotes, or }",
  ":": "a colon",
  ", or ]": "a comma or ]",
  ", or }": "a comma or }",
  end: "nothing more",
};

/**
 * Where a text that JSON.parse refused stops being JSON, and what is expected there: the engine says no place.
 *
 * @returns `line 3, column 2: a comma or } is expected`; the empty text where it is JSON
 */
export function jsonFault(text: string): string {
  const open: string[] = [];
  let next = "value" as Next;
  const afterValue = (): Next => (open.length === 0 ? "end" : open.at(-1) === "{" ? ", or }" : ", or ]");
  for (let at = 0; ; ) {
    at += matchAt(SPACE, text, at).length;
    if (at >= text.length && next === "end") return "";
    const token = matchAt(TOKEN, text, at);
    if (token === "" || !fits(next, token)) return `${placeOf(text, at)}: ${EXPECTED[next]} is expected`;
    at += token.length;
    if (token === "{" || token === "[") {
      open.push(token);
      next = token === "{" ? "name or }" : "value or ]";
    } else if (token === "}" || token === "]") {
      open.pop();
      next = afterValue();
    } else if (token === ",") next = open.at(-1) === "{" ? "name" : "value";
    else if (token === ":") next = "value";
    else next = next === "name" || next === "name or }" ? ":" : afterValue();
  }
}

function fits(next: Next, token: string): boolean {
  const isText = token.startsWith('"');
  const isValue = !/^[\]},:]/.test(token);
  switch (next) {
    case "value":
      return isValue;
    case "value or ]":
      return isValue || token === "]";
    case "name":
      return isText;
    case "name or }":
      return isText || token === "}";
    case ", or ]":
      return token === "," || token === "]";
    case ", or }":
      return token === "," || token === "}";
    default:
      return token === next;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
