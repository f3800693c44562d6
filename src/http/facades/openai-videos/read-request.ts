import type { AtHand } from "../../../domain/at-hand.ts";
import { invalid, mustBe } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { MAX_FORM_BYTES } from "../../../domain/limits.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import type { GivenUploads } from "../../../service/paid-inputs.ts";
import { FORM_OR_JSON, readJsonBody } from "../../body.ts";
import { withoutNulls } from "../../compat/read-request.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";
import { readStagedForm } from "../../staged-form.ts";
import { objectOfFields } from "../form-fields.ts";

/** The fields that a file may come in: the picture that guides a video, and the video that another is made from. */
export const REFERENCE = "input_reference";
export const SOURCE = "video";
export type FileField = typeof REFERENCE | typeof SOURCE;

/** What a body says in the field for its file. */
export interface GivenFile {
  /** The field, as the caller wrote it. */
  readonly param: string;
  /** The name of an upload, or the field's value. */
  readonly value: Json;
}

/** A body of the videos API, whether it came as JSON or as a form. */
export interface VideoBody {
  /** But for the file; a field that was `null` is absent. */
  readonly fields: JsonObject;
  /** Whether the fields are text, as in a form. */
  readonly isText: boolean;
  readonly file?: GivenFile | undefined;
  /** Two requests with an equal identity are the same request. */
  readonly identity: JsonObject;
  readonly uploads?: GivenUploads | undefined;
  readonly inlineFiles?: InlineFiles | undefined;
  /** Releases the files; those that a task uses stay. Undefined for a body without files. */
  readonly release: (() => Promise<void>) | undefined;
}

/**
 * Reads a body in either form.
 * @param field that may have a file; without one, files are dropped
 * @throws AppError naming the field at fault; then no file is kept
 */
export async function readVideoBody(
  deps: { readonly assets: Pick<AssetStore, "stage" | "receive"> },
  exchange: KeyedExchange,
  field?: FileField,
): Promise<VideoBody> {
  if (isForm(exchange.request)) return readForm(deps, exchange, field);
  const receiver = field === undefined ? undefined : deps.assets;
  return videoBodyOf(await readJsonBody(exchange, receiver, FORM_OR_JSON), field);
}

/** The names that each field has in a form where it is a file, or an address. */
const NAMES_IN_FORMS: Readonly<Record<FileField, readonly string[]>> = {
  [REFERENCE]: [REFERENCE, `${REFERENCE}[image_url]`],
  [SOURCE]: [SOURCE],
};

async function readForm(
  deps: { readonly assets: Pick<AssetStore, "receive"> },
  exchange: KeyedExchange,
  field: FileField | undefined,
): Promise<VideoBody> {
  const names = field === undefined ? [] : NAMES_IN_FORMS[field];
  const form = await exchange.intake.receive(MAX_FORM_BYTES, (incoming) =>
    readStagedForm(deps, exchange.request, incoming, {
      media: field === SOURCE ? "video" : "image",
      maxFiles: 1,
      owner: exchange.principal.accountId,
      mayBeText: (name) => names.includes(name),
      paramOf: (name) => (names.includes(name) ? name : undefined),
    }),
  );
  const { uploads, identity, release } = form;
  return orReleased(release, () => {
    const { asked, fields } = withoutFile(objectOfFields(form.fields), field);
    const given = form.files.map(({ field: param, name }) => ({ param, value: name as Json }));
    if (field !== undefined && asked !== undefined) given.push({ param: field, value: parsed(field, asked) });
    if (field !== undefined && given.length > 1) throw invalid({ kind: "given_twice", field });
    return { fields, isText: true, file: given[0], identity, uploads, release };
  });
}

function videoBodyOf(
  { body, inlineFiles, discard: release }: JsonBody,
  field: FileField | undefined,
): AtHand<VideoBody> {
  const read = (): VideoBody => {
    const { asked, fields } = withoutFile(withoutNulls(body), field);
    const file = asked === undefined || field === undefined ? undefined : { param: field, value: asked };
    return { fields, isText: false, file, identity: body, inlineFiles, release };
  };
  return release === undefined ? read() : orReleased(release, read);
}

function withoutFile(
  given: JsonObject,
  field: FileField | undefined,
): { readonly asked?: Json | undefined; readonly fields: JsonObject } {
  // Most have none, and to copy the others takes longer than to look.
  if (field === undefined || given[field] === undefined) return { fields: given };
  const { [field]: asked, ...fields } = given;
  return { asked, fields };
}

function isForm(request: Request): boolean {
  return /^\s*multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

/** An object may come as the text of one field. */
function parsed(field: FileField, value: Json): Json {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    throw mustBe(field, { form: field === SOURCE ? "json" : "address" }, { json: value });
  }
}

async function orReleased<T>(release: () => Promise<void>, read: () => T): Promise<T> {
  try {
    return read();
  } catch (error) {
    await release();
    throw error;
  }
}
