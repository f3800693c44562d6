import type { AtHand } from "../../../domain/at-hand.ts";
import { invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { MAX_FORM_BYTES } from "../../../domain/limits.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Uploads } from "../../../service/collect-inputs.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import { readJsonBody } from "../../body.ts";
import { addressOf, withoutNulls } from "../../compat/read-request.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";
import { readStagedForm } from "../../staged-form.ts";
import { objectOfFields } from "../form-fields.ts";

/** The picture that guides a video, and the path of the field that it came in. */
export interface Reference {
  readonly param: string;
  /** An address, a data URI, or the name of an upload. */
  readonly address: string;
}

/** A body of the videos API, whether it came as JSON or as a form. */
export interface VideoBody {
  /** But for the picture; a field that was `null` is absent. */
  readonly fields: JsonObject;
  /** Whether the fields are text, as in a form. */
  readonly isText: boolean;
  readonly reference?: Reference | undefined;
  /** Two requests with an equal identity are the same request. */
  readonly identity: JsonObject;
  readonly uploads?: Uploads | undefined;
  readonly inlineFiles?: InlineFiles | undefined;
  /** Releases the files; those that a task uses stay. Undefined for a body without files. */
  readonly release: (() => Promise<void>) | undefined;
}

/** The field with the picture. */
export const REFERENCE = "input_reference";

/** Whether a picture may come with a body; one that may not is ignored. */
interface Takes {
  readonly picture: boolean;
}

/**
 * Reads a body in either form.
 * @throws AppError naming the field at fault; then no file is kept
 */
export async function readVideoBody(
  deps: { readonly assets: Pick<AssetStore, "stage" | "receive"> },
  exchange: KeyedExchange,
  takes: Takes,
): Promise<VideoBody> {
  if (isForm(exchange.request)) return readForm(deps, exchange, takes);
  return videoBodyOf(await readJsonBody(exchange, takes.picture ? deps.assets : undefined), takes);
}

async function readForm(
  deps: { readonly assets: Pick<AssetStore, "stage"> },
  exchange: KeyedExchange,
  takes: Takes,
): Promise<VideoBody> {
  const isPicture = (field: string) => takes.picture && isReference(field);
  const form = await exchange.intake.receive(MAX_FORM_BYTES, (incoming) =>
    readStagedForm(deps, exchange.request, incoming, {
      ...{ maxFiles: 1, mayBeText: isPicture },
      paramOf: (field) => (isPicture(field) ? field : undefined),
    }),
  );
  const { uploads, identity, release } = form;
  return orReleased(release, () => {
    const { [REFERENCE]: text, ...fields } = objectOfFields(form.fields);
    const given = [
      ...form.files.map(({ field, name }) => ({ param: field, address: name })),
      ...(text === undefined || !takes.picture ? [] : [referenceOf(parsed(text))]),
    ];
    if (given.length > 1) throw invalid({ kind: "given_twice", field: REFERENCE });
    return { fields, isText: true, reference: given[0], identity, uploads, release };
  });
}

function videoBodyOf(
  { body, inlineFiles, discard: release }: JsonBody,
  { picture }: Takes,
): AtHand<VideoBody> {
  const read = (): VideoBody => {
    const { asked, fields } = withoutReference(withoutNulls(body));
    const reference = asked === undefined || !picture ? undefined : referenceOf(asked);
    return { fields, isText: false, reference, identity: body, inlineFiles, release };
  };
  return release === undefined ? read() : orReleased(release, read);
}

function withoutReference(given: JsonObject): {
  readonly asked?: Json | undefined;
  readonly fields: JsonObject;
} {
  // Most have none, and to copy the others takes longer than to look.
  if (given[REFERENCE] === undefined) return { fields: given };
  const { [REFERENCE]: asked, ...fields } = given;
  return { asked, fields };
}

function isForm(request: Request): boolean {
  return /^\s*multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

function isReference(field: string): boolean {
  return field === REFERENCE || field === `${REFERENCE}[image_url]`;
}

/** An object may come as the text of one field. */
function parsed(value: Json): Json {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    throw mustBe(REFERENCE, { form: "address" }, { json: value });
  }
}

function referenceOf(given: Json): Reference {
  return {
    param: isJsonObject(given) ? `${REFERENCE}.image_url` : REFERENCE,
    address: addressOf(REFERENCE, given),
  };
}

async function orReleased<T>(release: () => Promise<void>, read: () => T): Promise<T> {
  try {
    return read();
  } catch (error) {
    await release();
    throw error;
  }
}
