import { AppError, invalid } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { MAX_INPUT_BYTES } from "../domain/limits.ts";
import type { MediaKind } from "../domain/media/asset.ts";
import { dataUriHeader } from "../domain/media/data-uri.ts";
import type { ArrivingFile, AssetStore, StagedFile } from "../domain/ports/asset-store.ts";
import { refusing } from "../service/given-mask.ts";
import { createBase64Decoder } from "../toolkit/base64.ts";
import type { Incoming } from "./ingress/incoming.ts";
import { decodeUtf8 } from "./multipart/part-header.ts";
import { type MultipartLimits, readMultipart } from "./multipart/read.ts";

/** One text of a form. */
export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** A form whose files have arrived. */
export interface StagedForm {
  readonly fields: readonly FormField[];
  /** Each file's field, and the name that stands for the file in place of an address. */
  readonly files: readonly { readonly field: string; readonly name: string }[];
  /** Checks and stages them, by those names. @throws AppError that names the file at fault */
  readonly uploads: () => Promise<ReadonlyMap<string, StagedFile>>;
  /** Equal for equal forms; made from their fields and the hashes of their files, as they were sent. */
  readonly identity: JsonObject;
  /** Releases the files; files that a task uses stay. */
  release(): Promise<void>;
}

/** Says which fields of a form contain files that are kept. */
export interface FileFields {
  /** What the files are; images unless said. */
  readonly media?: MediaKind | undefined;
  readonly maxFiles: number;
  /** Whose they are. */
  readonly owner: AccountId;
  /**
   * The name of a field's next file in messages; undefined for a field that takes none, whose files are read and dropped.
   * @throws AppError if there are too many
   */
  readonly paramOf: (field: string) => string | undefined;
  /** Whether a field without a file name may be such a file, as a data URI or as its address. By default it may not. */
  readonly mayBeText?: ((field: string) => boolean) | undefined;
}

/** Permits some files of unknown fields, which are read and dropped. */
const UNKNOWN_FILES = 6;
const MAX_FIELD_BYTES = 64 * 1024;
/** Every header of a data URI that has a meaning is shorter. */
const BEGINNING_BYTES = 512;

interface Upload {
  readonly field: string;
  /** Absent for a file of an unknown field. */
  readonly arrived?: { readonly param: string; readonly file: ArrivingFile } | undefined;
  /** For a field that has no file. */
  readonly text?: string | undefined;
}

/**
 * Reads a form. Refuses each file by its beginning and its size as it arrives, as a file or as a data URI. None is decoded before
 * `uploads` is called, when nothing else is against the request.
 * @throws AppError that names the field or the file at fault. No file is kept then
 */
export async function readStagedForm(
  { assets }: { readonly assets: Pick<AssetStore, "receive"> },
  request: Request,
  incoming: Incoming,
  { media = "image", maxFiles, owner, paramOf, mayBeText }: FileFields,
): Promise<StagedForm> {
  const limits: MultipartLimits = {
    maxFiles: maxFiles + UNKNOWN_FILES,
    maxFields: 32,
    maxFieldBytes: MAX_FIELD_BYTES,
    maxHeaderBytes: 8 * 1024,
    isLong: mayBeText,
  };
  const options = { accept: [media], maxBytes: MAX_INPUT_BYTES[media], sanitize: true, owner };
  const receive = async (
    field: string,
    content: AsyncIterable<Uint8Array>,
    isFile: boolean,
  ): Promise<Upload> => {
    const opened = isFile ? { content } : await openText(field, content);
    if ("text" in opened) return { field, text: opened.text };
    const param = paramOf(field);
    if (param === undefined) return { field };
    await incoming.takeFile();
    const file = await assets.receive(options);
    try {
      await refusing(param, async () => {
        for await (const piece of opened.content) await file.append(piece);
      });
      return { field, arrived: { param, file } };
    } catch (error) {
      await file.discard();
      throw error;
    }
  };
  const drop = async ({ arrived }: Upload) => arrived?.file.discard();
  const form = await readMultipart(request, incoming, limits, receive, drop);
  const files = form.files.map(({ value }) => value);
  const staged = new Map<string, StagedFile>();
  const { arrived, ...rest } = assemble(form.fields, files);
  return {
    ...rest,
    async uploads() {
      for (const [name, { param, file }] of arrived)
        if (!staged.has(name)) staged.set(name, await refusing(param, () => file.stage(options)));
      return staged;
    },
    async release() {
      await Promise.all(files.map(drop));
      await Promise.all([...staged.values()].map((file) => file.release(false)));
    },
  };
}

function assemble(given: readonly FormField[], files: readonly Upload[]) {
  const arrivedFiles = new Map<string, NonNullable<Upload["arrived"]>>();
  const texts = files.flatMap(({ field, text }) =>
    text === undefined ? [] : [{ name: field, value: text }],
  );
  const fields = [...given, ...texts];
  const named = files.flatMap(({ field, arrived }, i) => {
    if (arrived === undefined) return [];
    // An upload's name contains a space, so no address from a caller can equal it.
    const name = `upload: ${i}`;
    arrivedFiles.set(name, arrived);
    return [{ field, name, sha256: arrived.file.sha256() }];
  });
  return {
    fields,
    files: named.map(({ field, name }) => ({ field, name })),
    arrived: arrivedFiles,
    identity: {
      fields: fields.map(({ name, value }) => [name, value]),
      files: named.map(({ field, sha256 }) => [field, sha256]),
    },
  };
}

/** The content of a long field: a text, or the content of its data URI. */
async function openText(
  field: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ readonly text: string } | { readonly content: AsyncIterable<Uint8Array> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  /** Reads until a given size is reached. A piece is valid until the next one is requested. */
  const gather = async (beginning: Buffer, bytes: number): Promise<Buffer> => {
    let gathered = beginning;
    while (gathered.length < bytes) {
      const { done, value } = await iterator.next();
      if (done === true) break;
      gathered = Buffer.concat([gathered, value]);
    }
    return gathered;
  };
  const beginning = await gather(Buffer.alloc(0), BEGINNING_BYTES);
  const header = dataUriHeader(beginning.subarray(0, BEGINNING_BYTES).toString("latin1"));
  if (header !== undefined) return { content: decoded(field, beginning.subarray(header.length), iterator) };
  const whole = await gather(beginning, MAX_FIELD_BYTES + 1);
  if (whole.length > MAX_FIELD_BYTES) {
    const facts = { kind: "form_field_too_large", field, most: MAX_FIELD_BYTES } as const;
    throw new AppError("request_too_large", facts);
  }
  return { text: textOf(field, whole) };
}

function textOf(field: string, bytes: Buffer): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalid({ kind: "form_field_not_utf8", field });
  if (text.includes("\0")) throw invalid({ kind: "form_field_nul", field });
  return text;
}

/** Decodes base64. @throws AppError if the text is not base64 */
async function* decoded(
  field: string,
  beginning: Buffer,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const decoder = createBase64Decoder();
  for (let piece: Uint8Array | undefined = beginning; piece !== undefined; ) {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
    const bytes = decoder.decode(text);
    if (bytes === undefined) throw invalid({ kind: "not_base64", field });
    if (bytes.length > 0) yield bytes;
    const { done, value }: IteratorResult<Uint8Array> = await rest.next();
    piece = done === true ? undefined : value;
  }
  const last = decoder.end();
  if (last === undefined) throw invalid({ kind: "not_base64", field });
  yield last.bytes;
}
