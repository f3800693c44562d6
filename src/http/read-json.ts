import { AppError, invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { INLINE_FILE_FROM_BYTES, MAX_INLINE_FILES, MAX_JSON_TEXT_BYTES } from "../domain/limits.ts";
import { dataUriHeader } from "../domain/media/data-uri.ts";
import type { ArrivingFile } from "../domain/ports/asset-store.ts";
import type { InlineFile, InlineFiles } from "../service/inline-files.ts";
import { createBase64Decoder } from "../toolkit/base64.ts";
import { createLongStringReader, type LongString } from "../toolkit/long-strings.ts";
import type { Incoming } from "./ingress/incoming.ts";

/** What happens to a body's data URIs: `receive` opens a file for each of the larger ones. */
export interface InlineReceiver {
  receive(): Promise<ArrivingFile>;
  /** Whether long texts of base64 without a header count as files too. */
  readonly takesBare?: boolean | undefined;
}

/** A JSON body as it was read. */
export interface JsonBody<Body = JsonObject> {
  readonly body: Body;
  /** Undefined when the body was small. */
  readonly inlineFiles: InlineFiles | undefined;
  /** Removes the files that nobody staged. Undefined when the body was small. */
  readonly discard: (() => Promise<void>) | undefined;
}

/** Does not look at the content of data URIs. */
export const WITHOUT_CONTENT: InlineReceiver = {
  async receive() {
    const nobody = async () => undefined;
    const stage = () => Promise.reject(new Error("This file was not received."));
    return { append: nobody, discard: nobody, stage, sha256: () => "", async *read() {} };
  },
};

const tooLong = () => new AppError("request_too_large", { kind: "body_too_long" });
/** Leaves out a byte-order mark, which some programs write before JSON. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });
/** Parsing more text than this takes noticeably long for others. */
const MUCH_TEXT_BYTES = 64 * 1024;
/** Characters of a data URI that stay in the body, for messages that show what was given. */
const SHOWN_CONTENT = 100;

/** Makes a body from its text: `parseJson`, or `parseJsonObject`. */
export type ParseBody<Body> = (text: string, standIns?: Set<string>) => Body;

/** Reads a small body that has arrived completely. @throws AppError like `parse` */
export function readWholeJson<Body>(bytes: Uint8Array, parse: ParseBody<Body>): Body {
  return parse(decodeUtf8(bytes));
}

/**
 * Reads a JSON body piece by piece. Content of data URIs is decoded as it arrives, and is written to files that `receiver`
 * opens. Without a receiver it counts as text. A body with too much text is refused as soon as that much has arrived.
 *
 * @throws AppError like `parse`; `request_too_large`; whatever reading the body throws. No file is kept then
 */
export async function readJsonPieces<Body>(
  { next, take, takeFile, turn }: Omit<Incoming, "give">,
  receiver: InlineReceiver | undefined,
  parse: ParseBody<Body>,
): Promise<JsonBody<Body>> {
  const received: ArrivingFile[] = [];
  const inlineFiles = new Map<string, InlineFile>();
  const discard = async () => void (await Promise.all(received.map((file) => file.discard())));
  const reader = createLongStringReader({
    longFrom: INLINE_FILE_FROM_BYTES,
    maxTextBytes: MAX_JSON_TEXT_BYTES,
    tooLong,
    async open(beginning) {
      const header = dataUriHeader(beginning) ?? (receiver?.takesBare ? bareHeader(beginning) : undefined);
      if (receiver === undefined || header === undefined || received.length === MAX_INLINE_FILES)
        return undefined;
      await takeFile();
      const file = await receiver.receive();
      received.push(file);
      return createInlineFile(header, file, inlineFiles);
    },
  });
  try {
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      const before = reader.text().length;
      await reader.feed(piece);
      take(reader.text().length - before);
    }
    const text = reader.text();
    if (text.length > MUCH_TEXT_BYTES) await turn();
    if (text.length > MAX_JSON_TEXT_BYTES) throw tooLong();
    const body = parse(decodeUtf8(text), new Set(inlineFiles.keys()));
    return { body, inlineFiles, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Models that take data URIs also take this header, which replaces the missing one. */
const BARE_HEADER = "data:;base64,";

/**
 * The header for base64 that has none; undefined for any other text. People write nothing so long without a space. Lines of base64
 * have at least 60 characters.
 */
function bareHeader(beginning: string): string | undefined {
  return /^[A-Za-z0-9+/_-]{60}[A-Za-z0-9+/_\r\n-]*$/.test(beginning) ? "" : undefined;
}

function createInlineFile(header: string, file: ArrivingFile, files: Map<string, InlineFile>): LongString {
  const decoder = createBase64Decoder();
  let length = 0;
  let shown = "";
  return {
    async append(text) {
      // Not JSON, so not base64 either.
      if (text === undefined) return void decoder.decode("\\");
      const content = length === 0 ? text.slice(header.length) : text;
      if (length === 0) shown = content.slice(0, SHOWN_CONTENT);
      length += text.length;
      const bytes = decoder.decode(content);
      if (bytes !== undefined && bytes.length > 0) await file.append(bytes);
    },
    async end() {
      const last = decoder.end();
      if (last !== undefined) await file.append(last.bytes);
      const name = `${header === "" ? BARE_HEADER : header}${shown}\0${files.size}`;
      const end = last && { text: last.rest, bytes: last.bytes.length };
      files.set(name, { header, length, file, end });
      return name;
    },
  };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    throw invalid({ kind: "body_not_utf8" }, error);
  }
}
