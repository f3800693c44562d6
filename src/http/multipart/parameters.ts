/** The parts of a header like `form-data; name="image"`. Names of parameters are in lower case. */
export interface HeaderValue {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Each match starts where the last one ended, and matches in one way only, so that it cannot backtrack. */
const PARAMETER = /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+)))?/y;

/** Reads a header's value and its parameters (RFC 9110, section 5.6.6). @returns undefined when it is malformed or names a parameter twice */
export function parseHeaderValue(text: string): HeaderValue | undefined {
  const end = text.indexOf(";");
  const value = (end === -1 ? text : text.slice(0, end)).trim();
  const parameters = new Map<string, string>();
  const length = text.trimEnd().length;
  for (let at = end === -1 ? length : end; at < length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return undefined;
    const [, name, quoted, plain] = match;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return undefined;
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  }
  return { value, parameters };
}

/** Whether text in this charset is UTF-8. */
export function isUtf8(charset: string): boolean {
  return ["utf-8", "utf8", "us-ascii"].includes(charset.toLowerCase());
}
