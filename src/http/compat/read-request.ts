import { RESPONSE_FORMATS, type ResponseFormat } from "../../domain/access/key-policy.ts";
import { type AppError, invalid } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, setOwn } from "../../domain/json.ts";
import type { CompatRequest } from "../../service/compat-request.ts";
import { misformed } from "../../service/model-fields.ts";

/** A request of the synchronous images API: what to make, and how to answer. */
export interface CompatBody {
  readonly request: CompatRequest;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly isStream: boolean;
}

/**
 * The body of a generation. `null` means absent, as clients of that API send it. Clients of Seedream's API send what to edit here, as
 * `image`; one that is no address is a field that nobody knows.
 */
export function readGeneration(body: JsonObject): CompatBody {
  const fields = withoutNulls(body);
  const { image = [] } = fields;
  const addresses = (Array.isArray(image) ? image : [image]).map(addressIn);
  const images = addresses.filter((each): each is string => typeof each === "string" && each !== "");
  return withAnswerForm(fields, {
    isText: false,
    images: images.length === addresses.length ? images : [],
  });
}

/** The JSON body of an edit: `images: [{image_url}]`, or `image` as one address or several. */
export function readEdit(body: JsonObject): CompatBody {
  const { images, image, mask, ...fields } = withoutNulls(body);
  const named = images === undefined ? { name: "image", value: image } : { name: "images", value: images };
  if (named.value === undefined) throw imageRequired();
  const list = Array.isArray(named.value) ? named.value : [named.value];
  if (list.length === 0) throw imageRequired(named.name);
  return withAnswerForm(fields, {
    isText: false,
    imagesName: named.name,
    images: list.map((each, i) => addressOf(`${named.name}[${i}]`, each)),
    mask: mask === undefined ? undefined : addressOf("mask", mask),
  });
}

/** Reads a form. Images and masks are given as addresses or as the names of uploads. */
export function readForm(
  form: readonly { readonly name: string; readonly value: string }[],
  files: { readonly images: readonly string[]; readonly masks: readonly string[] },
): CompatBody {
  const images = [...files.images];
  const masks = [...files.masks];
  const fields: Record<string, Json> = {};
  for (const { name, value } of form) {
    if (isImageField(name)) images.push(value);
    // Browsers send fields that were not filled in as empty.
    else if (value === "" && name !== "prompt") continue;
    else if (name === "mask") masks.push(value);
    else if (Object.hasOwn(fields, name)) throw invalid({ kind: "given_twice", field: name });
    // Python writes `True`.
    else setOwn(fields, name, name === "stream" ? value.toLowerCase() : value);
  }
  if (images.length === 0) throw imageRequired();
  if (masks.length > 1) throw invalid({ kind: "given_twice", field: "mask" });
  return withAnswerForm(fields, { isText: true, images, mask: masks[0] });
}

/** `image`, given once or repeatedly, `image[]`, and `image[0]` and so on, which PHP writes, form one list, in the order they come. */
export function isImageField(name: string): boolean {
  return /^image(?:\[\d*\])?$/.test(name);
}

/** Reads the form of the answer that a request wants. @throws AppError naming `response_format` */
export function responseFormatOf(value: Json | undefined | null): ResponseFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = RESPONSE_FORMATS.find((each) => each === value);
  if (format !== undefined) return format;
  throw misformed("response_format", "response_format", value);
}

function withAnswerForm(fields: JsonObject, request: Omit<CompatRequest, "fields">): CompatBody {
  return {
    request: { ...request, fields },
    responseFormat: responseFormatOf(fields.response_format),
    isStream: isTrue(fields.stream, request.isText),
  };
}

function isTrue(stream: Json | undefined, isText: boolean): boolean {
  if (stream === undefined || stream === false || (isText && stream === "false")) return false;
  if (stream === true || (isText && stream === "true")) return true;
  throw misformed("stream", "boolean", stream);
}

/** @throws AppError naming the field that has no address of an image */
export function addressOf(field: string, given: Json): string {
  const address = addressIn(given);
  if (typeof address === "string") return address;
  throw misformed(field, "address", given);
}

/** A plain text, `{image_url}` or `{file_id}` as OpenAI has them, `{url}` as xAI has it, or `{image_url: {url}}` as in chats. */
function addressIn(given: Json): Json | undefined {
  if (!isJsonObject(given)) return given;
  const { image_url: address, url, file_id: id } = given;
  return (isJsonObject(address) ? address.url : address) ?? url ?? id;
}

/** `null` means absent, as clients of that API send it. */
export function withoutNulls(body: JsonObject): JsonObject {
  if (!Object.values(body).includes(null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function imageRequired(field = "image"): AppError {
  return invalid({ kind: "image_required", field });
}
