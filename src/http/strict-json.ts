import { invalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS } from "../domain/limits.ts";
import type { JsonFault } from "../domain/words/body-words.ts";
import { measureJson, stringEnd } from "../toolkit/json-text.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Parses a JSON object strictly. Refuses JSON that JSON.parse accepts but that two parsers could read differently, and JSON
 * with so many parts that parsing and checking it would delay everybody else.
 *
 * @param standIns strings that stand for something else and may contain a NUL; each may occur once
 * @throws AppError `invalid_request` for anything but an object, duplicate keys, nesting deeper than 32, more than 20,000 fields
 *   and values, NUL or lone surrogates in strings
 */
export function parseJsonObject(text: string, standIns?: Set<string>): JsonObject {
  const value = parseJson(text, standIns);
  if (!isJsonObject(value)) throw invalid({ kind: "body_not_object" });
  return value;
}

/** The same for any JSON value. @throws AppError like `parseJsonObject`, except that it need not be an object */
export function parseJson(text: string, standIns?: Set<string>): Json {
  const shape = measureJson(text, { depth: MAX_JSON_DEPTH, tokens: MAX_JSON_TOKENS });
  if (shape.depth > MAX_JSON_DEPTH) throw invalid({ kind: "body_too_deep" });
  if (shape.tokens > MAX_JSON_TOKENS) throw invalid({ kind: "body_too_detailed" });
  let value: Json;
  try {
    // JSON.parse returns nothing but JSON values.
    value = JSON.parse(text) as Json;
  } catch (error) {
    // The parser's message quotes the caller's text, which belongs neither in an answer nor in a log.
    throw invalid({ kind: "body_not_json", fault: faultOf(text) }, withoutText(error));
  }
  // Only an escape can make a NUL or half a surrogate pair, because the text was decoded from strict UTF-8.
  if (text.includes("\\u")) checkStrings(value, "", standIns);
  if (countMembers(value) !== shape.members)
    throw invalid({ kind: "member_given_twice", member: repeatedMember(text) });
  return value;
}

/** What people send who write JSON by hand. */
function faultOf(text: string): JsonFault | undefined {
  if (text.trim() === "") return "empty";
  if (/^\s*\{\s*[^"}\s]/.test(text)) return "quotes";
  return faultBetween(text);
}

/** What brackets, commas and quotes show, the quotes first: where one is missing, all that follows is shifted. */
function faultBetween(text: string): JsonFault | undefined {
  let open = 0;
  let before = 0;
  let fault: JsonFault | undefined;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = stringEnd(text, i);
      if (end === text.length) return "quote";
      if (text.slice(i, end).includes("\n")) fault ??= "line_break";
      i = end;
    } else if (code === OPENING_BRACE || code === OPENING_BRACKET) open++;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      if (before === COMMA) fault ??= "comma";
      open--;
    }
    if (code > SPACE) before = code;
  }
  return fault ?? (open > 0 ? "unended" : undefined);
}

/** The parser's message up to its first quotation of the text, for the log. */
function withoutText(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, said = ""] = /^(?:JSON Parse error: )?([^"'`(]*)/.exec(error.message) ?? [];
  return new Error(said.trimEnd());
}

/** Counts the members of all objects in a value. */
function countMembers(value: Json | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const entry of value) members += countMembers(entry);
    return members;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) members += 1 + countMembers(object[name]);
  return members;
}

/** Checks all strings in a value, except those in `standIns`. @param path of the value */
function checkStrings(value: Json | undefined, path: string, standIns: Set<string> | undefined): void {
  if (typeof value === "string") {
    if (standIns?.delete(value) !== true) checkString(value, path);
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkStrings(value[i], `${path}[${i}]`, standIns);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value as JsonObject)) {
      checkString(name, path);
      checkStrings(member, path === "" ? name : `${path}.${name}`, standIns);
    }
  }
}

function checkString(text: string, path: string): void {
  const field = path === "" ? undefined : path;
  if (text.includes("\0")) throw invalid({ kind: "contains", field, what: "a NUL character" });
  if (!text.isWellFormed()) throw invalid({ kind: "contains", field, what: "half of a surrogate pair" });
}

/** The first repeated member. Only the message needs it, so the search may be slow. */
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
