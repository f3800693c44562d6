import { canonicalJson } from "../domain/canonical-json.ts";
import { invalid, mustBe } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, propertyOf } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import type { ArrivingFile, PutOptions, StagedFile } from "../domain/ports/asset-store.ts";
import type { Secrets } from "../domain/ports/runtime.ts";

/** A data URI of a body whose content was decoded while it arrived. */
export interface InlineFile {
  /** `data:image/png;base64,` */
  readonly header: string;
  /** Characters of the whole data URI. */
  readonly length: number;
  readonly file: ArrivingFile;
  /** The last characters of the content, up to four, and how many bytes they encode; undefined if the content is not base64. */
  readonly end: { readonly text: string; readonly bytes: number } | undefined;
}

/** Files by the text that replaces each in the body. This text contains a NUL, which no caller's text can contain. */
export type InlineFiles = ReadonlyMap<string, InlineFile>;

/** Checks the content of a data URI. @throws AppError naming the field when it is not base64; MediaError, StorageError */
export async function stageInlineFile(
  param: string,
  { end, file }: InlineFile,
  options: PutOptions,
): Promise<StagedFile> {
  if (end === undefined) throw invalid({ kind: "not_base64", field: param });
  return file.stage(options);
}

/** Refuses a data URI in a field that takes no files. @throws AppError naming the field */
export function refuseMisplacedFiles(model: Model, body: JsonObject, files: InlineFiles | undefined): void {
  if (files === undefined || files.size === 0) return;
  for (const [name, value] of Object.entries(body)) {
    if (model.mediaFields.some((field) => field.name === name)) continue;
    const found = fileIn(files, value, name);
    if (found === undefined) continue;
    const { minLength: least, maxLength: most } = propertyOf(model.schema, found.path) ?? {};
    if (typeof most !== "number") throw invalid({ kind: "data_uri_unwanted", field: found.path });
    const limits = { least: typeof least === "number" ? least : undefined, most };
    throw mustBe(found.path, { many: "characters", ...limits }, found.file.length);
  }
}

function fileIn(
  files: InlineFiles,
  value: Json | undefined,
  path: string,
): { path: string; file: InlineFile } | undefined {
  if (typeof value === "string") {
    const file = files.get(value);
    return file === undefined ? undefined : { path, file };
  }
  const members = Array.isArray(value)
    ? value.map((entry, i) => [`${path}[${i}]`, entry] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(([name, member]) => [`${path}.${name}`, member] as const)
      : [];
  for (const [at, member] of members) {
    const found = fileIn(files, member, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Bytes of a file that are read at once; their base64 has no padding. */
const READ_BYTES = 3 * 64 * 1024;

/**
 * The SHA-256 of `before` and the canonical JSON of a value, in which each file is the data URI it came as: equal to the hash of
 * the body as it was sent.
 */
export function hashCanonical(
  secrets: Pick<Secrets, "hash" | "hashPieces">,
  { before = "", value, files }: { before?: string; value: Json; files: InlineFiles | undefined },
): string | Promise<string> {
  const text = before + canonicalJson(value);
  return files === undefined || files.size === 0
    ? secrets.hash(text)
    : secrets.hashPieces(withContents(text, files));
}

async function* withContents(text: string, files: InlineFiles): AsyncGenerator<string> {
  const places = [...files]
    .map(([name, file]) => ({ name: JSON.stringify(name), file }))
    .map((each) => ({ ...each, at: text.indexOf(each.name) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at);
  let from = 0;
  for (const { name, file, at } of places) {
    yield `${text.slice(from, at)}${JSON.stringify(file.header).slice(0, -1)}`;
    yield* contentOf(file);
    yield '"';
    from = at + name.length;
  }
  yield text.slice(from);
}

/**
 * The content of a data URI as it was sent, in the usual alphabet and without white space. Content that is not base64 was never
 * accepted, so any text will do.
 */
async function* contentOf({ file, end }: InlineFile): AsyncGenerator<string> {
  if (end === undefined) return;
  let held: Uint8Array | undefined;
  for await (const piece of file.read(READ_BYTES)) {
    if (held !== undefined) yield base64Of(held);
    held = piece;
  }
  if (held !== undefined) yield base64Of(held.subarray(0, held.length - end.bytes));
  yield end.text;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
