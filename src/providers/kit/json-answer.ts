import type { Json } from "../../domain/json.ts";
import { createBase64Decoder } from "../../toolkit/base64.ts";
import { measureJson, stringEnd } from "../../toolkit/json-text.ts";
import { createLongStringReader, type LongString } from "../../toolkit/long-strings.ts";

/** What an answer may be made of besides its files. More would take seconds to parse, and means nothing. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MOST = { depth: 64, tokens: 100_000 };
const TEXT_SHOWN = 2_000;
/** A string from this length on is decoded as it arrives if it is base64. */
export const FILE_FROM_BYTES = 4 * 1024;
const DATA_URI_HEADER = /^data:[\w.+/-]*;base64,/;
const BASE64 = /^[A-Za-z0-9+/_\-\s]*$/;

/** What a JSON answer says. */
export interface JsonAnswer {
  /** Undefined when the body is not JSON, or too large to be an answer. */
  readonly json: Json | undefined;
  /** The beginning of a body that is not JSON, for what it says of an error. */
  readonly text?: string | undefined;
  /** The content of long base64 strings, by what stands for each in `json`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** An answer as far as its files go. */
export type AnswerFiles = { readonly files?: JsonAnswer["files"] | undefined };

class NoAnswerText extends Error {}

/** Reads a body of JSON as it arrives, without holding the event loop. @throws what the body throws */
export async function readJsonAnswer(body: AsyncIterable<Uint8Array>): Promise<JsonAnswer> {
  const files = new Map<string, Uint8Array>();
  const reader = createLongStringReader({
    longFrom: FILE_FROM_BYTES,
    maxTextBytes: MAX_TEXT_BYTES,
    tooLong: () => new NoAnswerText(),
    open(beginning) {
      const header = headerOf(beginning);
      return BASE64.test(beginning.slice(header.length)) ? createFile(header, files) : undefined;
    },
  });
  try {
    for await (const chunk of body) await reader.feed(chunk);
  } catch (error) {
    if (error instanceof NoAnswerText) return { json: undefined, files };
    throw error;
  }
  const text = new TextDecoder().decode(reader.text());
  const json = parseJson(text);
  return json === undefined ? { json, files, text: text.slice(0, TEXT_SHOWN) } : { json, files };
}

/** An integer that may be larger than doubles hold. */
const LONG_INTEGER = /[\s:,[]-?\d{16,}\s*[,}\]]/;

/**
 * Parses JSON text; undefined for what is none, and for what would take long to parse. An integer that a double would change, such as
 * the id of a job, comes as its digits. A number that is none, which Python writes as `NaN` or `Infinity`, comes as null.
 */
export function parseJson(text: string): Json | undefined {
  const { depth, tokens } = measureJson(text, MOST);
  if (depth > MOST.depth || tokens > MOST.tokens) return undefined;
  return parsed(text) ?? (NO_NUMBER.test(text) ? parsed(withoutNoNumbers(text)) : undefined);
}

function parsed(text: string): Json | undefined {
  try {
    // What JSON.parse returns is JSON.
    return (LONG_INTEGER.test(text) ? JSON.parse(text, exact) : JSON.parse(text)) as Json;
  } catch {
    return undefined;
  }
}

const NO_NUMBER = /\b(?:NaN|Infinity)\b/;
const NO_NUMBERS = /-?\b(?:NaN|Infinity)\b/g;

/** Texts stay as they are. */
function withoutNoNumbers(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote === -1 ? text.length : quote;
    const end = quote === -1 ? start : stringEnd(text, start) + 1;
    parts.push(text.slice(at, start).replace(NO_NUMBERS, "null"), text.slice(start, end));
    at = end;
  }
  return parts.join("");
}

/** @param context has the number as it is written (https://tc39.es/proposal-json-parse-with-source, 2026-11) */
function exact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  const isChanged = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isChanged && source !== undefined && /^-?\d+$/.test(source) ? source : value;
}

/** The bytes of a base64 text in an answer, with or without the header of a data URI. */
export function bytesOf({ files }: AnswerFiles, text: string): Uint8Array {
  return files?.get(text) ?? Buffer.from(text.slice(headerOf(text).length), "base64");
}

/** The header of a data URI; empty for any other text. */
function headerOf(text: string): string {
  return DATA_URI_HEADER.exec(text.slice(0, 256))?.[0] ?? "";
}

function createFile(header: string, files: Map<string, Uint8Array>): LongString {
  const decoder = createBase64Decoder();
  const pieces: Uint8Array[] = [];
  let left = header.length;
  return {
    append(text) {
      const content = text?.slice(left);
      left = 0;
      const bytes = content === undefined ? undefined : decoder.decode(content);
      if (bytes !== undefined) pieces.push(bytes);
    },
    end() {
      const last = decoder.end();
      const name = `${header}file: ${files.size}`;
      files.set(name, last === undefined ? new Uint8Array(0) : Buffer.concat([...pieces, last.bytes]));
      return name;
    },
  };
}
