import { invalid } from "../../domain/errors.ts";
import { MAX_EDIT_IMAGES } from "../../domain/limits.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { KeyedExchange } from "../exchange.ts";
import type { Incoming } from "../ingress/incoming.ts";
import { type FileFields, readStagedForm, type StagedForm } from "../staged-form.ts";
import { type CompatBody, isImageField, readForm } from "./read-request.ts";

/** A form whose files are staged, and its request. Its images are given by the names of the form's uploads. */
export interface EditForm extends Omit<StagedForm, "fields" | "files"> {
  readonly body: CompatBody;
}

export interface EditFormDeps {
  readonly assets: AssetStore;
}

type Sender = Pick<KeyedExchange, "request" | "principal">;

/** Reads the form of a variation, with one image. @throws AppError like `readEditForm` */
export function readVariationForm(
  deps: EditFormDeps,
  { request, principal }: Sender,
  incoming: Incoming,
): Promise<EditForm> {
  let images = 0;
  const paramOf = (field: string) => {
    if (!isImageField(field)) return undefined;
    images += 1;
    if (images > 1) throw invalid({ kind: "given_twice", field: "image" });
    return "image";
  };
  const owner = principal.accountId;
  return readImagesForm(deps, request, incoming, { maxFiles: 1, owner, paramOf });
}

/**
 * Reads the form of an edit. Checks and stages each file as it arrives.
 * @throws AppError that names the field or the file at fault; then no file is kept
 */
export function readEditForm(
  deps: EditFormDeps,
  { request, principal }: Sender,
  incoming: Incoming,
): Promise<EditForm> {
  let images = 0;
  const paramOf = (field: string) => {
    if (field === "mask") return field;
    if (!isImageField(field)) return undefined;
    if (images === MAX_EDIT_IMAGES) throw invalid({ kind: "too_many_images", field: "image" });
    return `image[${images++}]`;
  };
  const owner = principal.accountId;
  return readImagesForm(deps, request, incoming, { maxFiles: MAX_EDIT_IMAGES, owner, paramOf });
}

async function readImagesForm(
  deps: EditFormDeps,
  request: Request,
  incoming: Incoming,
  images: FileFields,
): Promise<EditForm> {
  const { fields, files, ...form } = await readStagedForm(deps, request, incoming, images);
  const of = (isMask: boolean) =>
    files.filter(({ field }) => (field === "mask") === isMask).map(({ name }) => name);
  try {
    return { ...form, body: readForm(fields, { images: of(false), masks: of(true) }) };
  } catch (error) {
    await form.release();
    throw error;
  }
}
