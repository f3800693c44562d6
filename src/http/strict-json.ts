import { AppError, invalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TEXT_BYTES } from "../domain/limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON object strictly. Refuses what JSON.parse accepts but two parsers could read differently.
 *
 * @throws AppError `invalid_request` for anything but an object, duplicate keys, nesting deeper than 32, NUL or lone surrogates in
 *   strings; `request_too_large` when more than 1 MB is left without the content of data URIs
 */
export function parseJsonObject(text: string): JsonObject {
  const shape = measure(text);
  if (shape.depth > MAX_JSON_DEPTH) throw invalid({ kind: "body_too_deep" });
  if (text.length - shape.dataUriLength > MAX_JSON_TEXT_BYTES) {
    throw new AppError("request_too_large", { kind: "body_too_long" });
  }
  let value: Json;
  try {
    // JSON.parse returns nothing but JSON values.
    value = JSON.parse(text) as Json;
  } catch (error) {
    // The parser quotes the caller's text, which belongs neither in an answer nor in a log.
    throw invalid({ kind: "body_not_json" }, withoutText(error));
  }
  if (!isJsonObject(value)) throw invalid({ kind: "body_not_object" });
  // Only an escape can make a NUL or half a surrogate pair, because the text was decoded from strict UTF-8.
  const strings = text.includes("\\u");
  const members = inspect(value, "", strings);
  if (members !== shape.colons) throw invalid({ kind: "member_given_twice", member: repeatedMember(text) });
  return value;
}

/** The parser's message up to its first quotation of the text, for the log. */
function withoutText(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, said = ""] = /^(?:JSON Parse error: )?([^"'`(]*)/.exec(error.message) ?? [];
  return new Error(said.trimEnd());
}

/** Measures, in one pass, how deep the text nests, how many members it has and how long its data URIs are. */
function measure(text: string): { depth: number; colons: number; dataUriLength: number } {
  let depth = 0;
  let deepest = 0;
  let colons = 0;
  let dataUriLength = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = stringEnd(text, i);
        if (text.startsWith("data:", i + 1)) dataUriLength += end - i;
        i = end;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > deepest) deepest = depth;
        if (deepest > MAX_JSON_DEPTH) return { depth: deepest, colons, dataUriLength };
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      case 0x3a: // :
        colons++;
        break;
    }
  }
  return { depth: deepest, colons, dataUriLength };
}

/** Position of the quote that ends the string starting at `start`, or the text's end. */
function stringEnd(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}

/** Counts the members of all objects in a value; with `strings`, looks at every string too. */
function inspect(value: Json | undefined, path: string, strings: boolean): number {
  if (typeof value === "string") {
    if (strings) checkString(value, path);
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) members += inspect(value[i], `${path}[${i}]`, strings);
    return members;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) {
    if (strings) checkString(name, path);
    members += 1 + inspect(object[name], path === "" ? name : `${path}.${name}`, strings);
  }
  return members;
}

function checkString(text: string, path: string): void {
  const field = path === "" ? undefined : path;
  if (text.includes("\0")) throw invalid({ kind: "contains", field, what: "a NUL character" });
  if (!text.isWellFormed()) throw invalid({ kind: "contains", field, what: "half of a surrogate pair" });
}

/** The first member that is repeated. Only the message needs it, so it may be slow. */
function repeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      const end = stringEnd(text, i);
      const isName = /^\s*:/.test(text.slice(end + 1, end + 64));
      const name = isName ? String(JSON.parse(text.slice(i, end + 1))) : undefined;
      if (name !== undefined && open.at(-1)?.has(name)) return name;
      if (name !== undefined) open.at(-1)?.add(name);
      i = end;
    }
  }
  return undefined;
}
