import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import type { MediaType } from "../../src/domain/media/asset.ts";
import { jsonFault } from "../../src/toolkit/json-fault.ts";
import { usage } from "../failure.ts";

/** One `-i`: `k=v`, `k=@file` or `k:=json`. */
export interface Input {
  readonly name: string;
  readonly form: "text" | "file" | "json";
  readonly value: string;
}

export type ReadFile = (path: string) => Promise<Uint8Array>;

/** @throws Failure when it has none of the three forms */
export function parseInput(text: string): Input {
  const [, name, operator, rest = ""] = /^([A-Za-z0-9_.-]+)(:?=)(.*)$/s.exec(text) ?? [];
  if (name === undefined) {
    throw usage(`"${text.slice(0, 80)}" is not an input; write name=value, name=@file or name:=json.`);
  }
  if (operator === ":=") return { name, form: "json", value: rest };
  return rest.startsWith("@")
    ? { name, form: "file", value: rest.slice(1) }
    : { name, form: "text", value: rest };
}

/**
 * Makes the fields of a create body. Converts text to the type in the model's schema, and sends text that does not fit
 * unchanged, so that the server says what it allows. A name given several times, or one whose schema is a list, makes a list.
 */
export async function readInputs(
  inputs: readonly Input[],
  schema: unknown,
  readFile: ReadFile,
): Promise<JsonObject> {
  const body: Record<string, Json> = {};
  for (const input of inputs) {
    const types = typesOf(schema, input.name);
    const value = await readInput(input, types, readFile);
    const before = body[input.name];
    const isList = types.has("array") && !Array.isArray(value);
    if (Array.isArray(before)) body[input.name] = [...before, ...(Array.isArray(value) ? value : [value])];
    else if (before !== undefined) throw usage(`${input.name} is given twice, and is no list.`);
    else body[input.name] = isList ? [value] : value;
  }
  return body;
}

async function readInput(
  { name, form, value }: Input,
  types: ReadonlySet<string>,
  readFile: ReadFile,
): Promise<Json> {
  if (form === "json") return parseJson(name, value);
  if (form === "text") return convert(value, types);
  const bytes = await readFile(value);
  const type = sniffMediaType(bytes);
  if (type !== undefined) return `data:${type};base64,${bytes.toBase64()}`;
  const text = decodeText(bytes);
  if (text === undefined) {
    const types = "PNG, JPEG, WebP, MP4, WebM, WAV, MP3, M4A, Ogg";
    throw usage(`${value} is neither text nor an image, video or recording svc knows (${types}).`);
  }
  return types.has("object") || types.has("array") ? parseJson(name, text) : text.replace(/\r?\n$/, "");
}

/** Converts text to the first of the schema's types that it can be read as. */
function convert(text: string, types: ReadonlySet<string>): Json {
  if ((types.has("number") || types.has("integer")) && isNumber(text)) return Number(text);
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("null") && text === "null") return null;
  const looksLikeJson =
    (types.has("object") && text.startsWith("{")) || (types.has("array") && text.startsWith("["));
  return looksLikeJson ? parseJson("value", text) : text;
}

/** Whether a text is a number that stays the same when it is read. */
function isNumber(text: string): boolean {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text))) return false;
  return !isRounded(text);
}

/** The types that a schema allows for a property, by its own keywords and its alternatives. */
function typesOf(schema: unknown, name: string): ReadonlySet<string> {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  const types = new Set<string>();
  collectTypes(isJsonObject(properties) ? properties[name] : undefined, schema, types, 0);
  return types;
}

function collectTypes(property: unknown, root: unknown, types: Set<string>, depth: number): void {
  if (!isJsonObject(property) || depth > 8) return;
  const { type, $ref, anyOf, oneOf, allOf } = property;
  for (const each of Array.isArray(type) ? type : [type]) if (typeof each === "string") types.add(each);
  if (typeof $ref === "string") collectTypes(resolve(root, $ref), root, types, depth + 1);
  for (const list of [anyOf, oneOf, allOf]) {
    if (Array.isArray(list)) for (const each of list) collectTypes(each, root, types, depth + 1);
  }
}

/** `#/$defs/name` within the same schema. */
function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (at, name) => (isJsonObject(at) ? at[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
      root,
    );
}

/** @throws Failure when it is none, or has a whole number that would be rounded */
export function parseJson(name: string, text: string): Json {
  let rounded: string | undefined;
  let value: Json;
  try {
    value = JSON.parse(text, (_name, read: Json, context?: { readonly source?: string }) => {
      const source = context?.source ?? "";
      if (typeof read === "number" && isRounded(source)) rounded = source;
      return read;
    });
  } catch {
    throw usage(`${name} is not valid JSON: ${jsonFault(text)}.`);
  }
  if (rounded === undefined) return value;
  throw usage(
    `${name}: the number ${rounded} would be rounded.`,
    `In quotes it is a text, and stays as it is: ${name}:='"${rounded}"'`,
  );
}

/** Whether a text is a whole number of which no number here has all digits. */
export function isRounded(text: string): boolean {
  const read = Number(text);
  return /^-?\d+$/.test(text) && (!Number.isFinite(read) || BigInt(read) !== BigInt(text));
}

/** The media type of a file by its first bytes; undefined for types that the service does not take. */
export function sniffMediaType(bytes: Uint8Array): MediaType | undefined {
  const ascii = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (ascii(0, 8) === "\u0089PNG\r\n\u001a\n") return "image/png";
  if (ascii(0, 3) === "\u00ff\u00d8\u00ff") return "image/jpeg";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return "image/webp";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WAVE") return "audio/wav";
  if (ascii(4, 8) === "ftyp") return /^M4[AB] $/.test(ascii(8, 12)) ? "audio/mp4" : "video/mp4";
  if (ascii(0, 4) === "OggS") return "audio/ogg";
  if (ascii(0, 3) === "ID3" || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe6) === 0xe2)) return "audio/mpeg";
  if (ascii(0, 4) === "\u001aE\u00df\u00a3") return "video/webm";
  return undefined;
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
