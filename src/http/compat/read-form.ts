import { invalid } from "../../domain/errors.ts";
import { MAX_EDIT_IMAGES } from "../../domain/limits.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { Incoming } from "../ingress/incoming.ts";
import { readStagedForm, type StagedForm } from "../staged-form.ts";
import { type CompatBody, isImageField, readForm } from "./read-request.ts";

/** A form whose files are staged, and what it asks for. Its images are under the names of the form's uploads. */
export interface EditForm extends Omit<StagedForm, "fields" | "files"> {
  readonly body: CompatBody;
}

export interface EditFormDeps {
  readonly assets: AssetStore;
}

/**
 * Reads the form of an edit. Checks and stages each file as it arrives.
 * @throws AppError that names the field or the file at fault; then no file is kept
 */
export async function readEditForm(
  deps: EditFormDeps,
  request: Request,
  incoming: Incoming,
): Promise<EditForm> {
  let images = 0;
  const paramOf = (field: string) => {
    if (field === "mask") return field;
    if (!isImageField(field)) return undefined;
    if (images === MAX_EDIT_IMAGES) throw invalid({ kind: "too_many_images", field: "image" });
    return `image[${images++}]`;
  };
  const { fields, files, ...form } = await readStagedForm(deps, request, incoming, {
    maxFiles: MAX_EDIT_IMAGES,
    paramOf,
  });
  const of = (isMask: boolean) =>
    files.filter(({ field }) => (field === "mask") === isMask).map(({ name }) => name);
  try {
    return { ...form, body: readForm(fields, { images: of(false), masks: of(true) }) };
  } catch (error) {
    await form.release();
    throw error;
  }
}
