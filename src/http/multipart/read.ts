import { AppError, invalid } from "../../domain/errors.ts";
import type { Incoming } from "../ingress/incoming.ts";
import { type Body, openBody } from "./body.ts";
import { boundaryOf } from "./boundary.ts";
import { decodeUtf8, parsePartHeader } from "./part-header.ts";

export interface MultipartLimits {
  /** Those that were not chosen count. */
  readonly maxFiles: number;
  readonly maxFields: number;
  /** The value of one field. */
  readonly maxFieldBytes: number;
  /** The header of one part, and what precedes the first part. */
  readonly maxHeaderBytes: number;
  /** Names of fields without a file name that may be long. `onFile` gets them too. None unless given. */
  readonly isLong?: ((field: string) => boolean) | undefined;
}

/** Takes the content of one file, or of one long field. @param isFile whether it has a file name */
export type TakeFile<T> = (field: string, content: AsyncIterable<Uint8Array>, isFile: boolean) => Promise<T>;

export interface MultipartForm<T> {
  readonly fields: { readonly name: string; readonly value: string }[];
  readonly files: { readonly field: string; readonly value: T }[];
}

const LAST = Buffer.from("--");
const HEADER_END = Buffer.from("\r\n\r\n");

/**
 * Reads a form (RFC 7578) while it arrives: its fields in order, and the result of `onFile` for each file. Files come one at a
 * time, and the sender waits for `onFile`. What `onFile` does not read of a file is skipped. File names and types are ignored;
 * an empty file whose name is empty is none, because browsers send that for a file that was not chosen.
 *
 * After a failure the results of `onFile` so far go to `onAbandoned`.
 * @throws AppError `invalid_request`, `request_too_large` or `unsupported_media_type`; whatever `onFile` throws
 */
export async function readMultipart<T>(
  { headers, body: content }: Pick<Request, "headers" | "body">,
  incoming: Pick<Incoming, "next">,
  limits: MultipartLimits,
  onFile: TakeFile<T>,
  onAbandoned: (value: T) => Promise<void>,
): Promise<MultipartForm<T>> {
  const mark = Buffer.from(`\r\n--${boundaryOf(headers)}`, "latin1");
  if (content === null) throw invalid({ kind: "form_empty" });
  const body = openBody(incoming);
  const form: MultipartForm<T> = { fields: [], files: [] };
  try {
    await readParts(body, mark, limits, form, onFile);
    return form;
  } catch (error) {
    // The caller needs the first error.
    await Promise.allSettled(form.files.map(({ value }) => onAbandoned(value)));
    throw error;
  }
}

async function readParts<T>(
  body: Body,
  mark: Buffer,
  limits: MultipartLimits,
  form: MultipartForm<T>,
  onFile: TakeFile<T>,
): Promise<void> {
  if ((await body.allBefore(mark, limits.maxHeaderBytes)) === undefined) {
    throw invalid({ kind: "form_unstarted" });
  }
  /** Files that were not chosen: each is work, too. */
  let unchosen = 0;
  for (let number = 1; !(await body.startsWith(LAST)); number += 1) {
    const header = await body.allBefore(HEADER_END, limits.maxHeaderBytes);
    if (header === undefined) {
      throw invalid({ kind: "part_header_too_large", part: number, most: limits.maxHeaderBytes });
    }
    const { name, isFile, isUnnamed } = parsePartHeader(header, number);
    if (isFile || limits.isLong?.(name) === true) {
      if (form.files.length + unchosen === limits.maxFiles) {
        throw invalid({ kind: "form_too_many", what: "files", most: limits.maxFiles, field: name });
      }
      const content = contentBefore(body, mark);
      if (isUnnamed && (await content.isEmpty())) {
        unchosen += 1;
        continue;
      }
      const value = await onFile(name, content.pieces(), isFile);
      form.files.push({ field: name, value });
      await content.skip();
    } else {
      if (form.fields.length === limits.maxFields) {
        throw invalid({ kind: "form_too_many", what: "fields", most: limits.maxFields, field: name });
      }
      form.fields.push({ name, value: await readValue(body, mark, name, limits.maxFieldBytes) });
    }
  }
}

/** One file's content. Never reads past the end of the file. */
function contentBefore(body: Body, mark: Buffer) {
  let isOver = false;
  let ahead: Uint8Array | undefined;

  async function next(): Promise<Uint8Array | undefined> {
    if (ahead !== undefined) {
      const piece = ahead;
      ahead = undefined;
      return piece;
    }
    if (isOver) return undefined;
    const piece = await body.pieceBefore(mark);
    isOver = piece === undefined;
    return piece;
  }

  async function isEmpty(): Promise<boolean> {
    ahead = await next();
    return ahead === undefined;
  }

  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
  }

  async function skip(): Promise<void> {
    while ((await next()) !== undefined);
  }

  return { isEmpty, pieces, skip };
}

async function readValue(body: Body, mark: Buffer, name: string, maxBytes: number): Promise<string> {
  const bytes = await body.allBefore(mark, maxBytes);
  if (bytes === undefined) {
    const facts = { kind: "form_field_too_large", field: name, most: maxBytes } as const;
    throw new AppError("request_too_large", facts);
  }
  const value = decodeUtf8(bytes);
  if (value === undefined) throw invalid({ kind: "form_field_not_utf8", field: name });
  if (value.includes("\0")) throw invalid({ kind: "form_field_nul", field: name });
  return value;
}
