import { MAX_EDIT_IMAGES } from "../limits.ts";
import { isMediaType, MEDIA_TYPES, type MediaKind, type MediaType } from "../media/asset.ts";
import type { Mode } from "../model/model.ts";
import { type Demand, demandWords } from "./demand.ts";
import { modeNames } from "./mode-words.ts";
import { article, type Field, type Given, type NameOf, show, type WordTable } from "./say.ts";

interface OfModel extends Field {
  /** Its id. */
  readonly model: string;
}

/** Problems with files and addresses, and with fields that a model cannot honour. */
export const INPUT_WORDS = {
  stored_file_unknown: ({ field }: Field, name: NameOf) =>
    `${name(field)} names a file of this service that does not exist.`,
  task_files_gone: ({ field, removedAt }: Field & { removedAt: number }, name: NameOf) =>
    `${name(field)} names a task whose files were removed on ${new Date(removedAt).toISOString()}, because they were kept long enough.`,
  stored_file_gone: ({ field }: Field, name: NameOf) =>
    `${name(field)} names a file that this service no longer has.`,
  /** `given` is a media type where it is known. */
  other_media: (
    { field, wanted, given }: Field & { wanted: MediaKind; given: MediaKind | MediaType },
    name: NameOf,
  ) => `${name(field)} must be ${article(wanted)}, not ${isMediaType(given) ? given : article(given)}.`,
  /** GIFs and drawings can be results, but not inputs. */
  output_only: ({ field, given }: Field & { given: MediaType }, name: NameOf) =>
    `${name(field)} names a file of a type that cannot be given (${MEDIA_TYPES[given].extension.toUpperCase()}); give a PNG, JPEG or WebP image.`,
  /** What an account has uploaded, and what it may have. */
  uploads_full: ({
    used,
    most,
  }: {
    used: { files: number; bytes: number };
    most: { files: number; bytes: number };
  }) =>
    `This account has uploaded ${used.files} files of ${used.bytes} bytes, of ${most.files} files and ${most.bytes} bytes that it may have at one time; delete some, or wait until they expire.`,
  upload_taken: ({ field }: Field, name: NameOf) =>
    `${name(field)} has the id of a file that was uploaded already.`,
  not_base64: ({ field }: Field, name: NameOf) => `${name(field)} has content that is not base64.`,
  data_uri_unwanted: ({ field }: Field, name: NameOf) => `${name(field)} takes no data URI.`,
  not_an_image_task: ({ field }: Field, name: NameOf) =>
    `${name(field)} names no image task of this account.`,
  task_not_completed: ({ field, status }: Field & { status: string }, name: NameOf) =>
    `${name(field)} names a task that is ${status}, not completed.`,
  result_absent: ({ field, results, given }: Field & { results: number; given: number }, name: NameOf) =>
    `${name(field)} must be 0 to ${results - 1} for this task, got ${given}.`,

  one_image_at_a_time: ({ field, model, given }: OfModel & { given: Given }, name: NameOf) =>
    `${name(field)} must be 1 for ${model}, which makes one image at a time, got ${show(given)}.`,
  background_not_transparent: ({ field, model, given }: OfModel & { given: Given }, name: NameOf) =>
    `${name(field)} must be auto or opaque for ${model}, got ${show(given)}.`,
  not_a_choice: ({ field, model, given }: OfModel & { given: Given }, name: NameOf) =>
    `${name(field)} cannot be chosen for ${model}, got ${show(given)}.`,
  /** The field would change the result, and neither the model nor a route to it has anything like it. */
  field_undoable: ({ field, model }: OfModel, name: NameOf) =>
    `${name(field)} cannot be used: no route of ${model} can do it.`,
  /** The schema takes the field, but no route that is currently usable does. */
  unrouted_value: ({ field, model, must, given }: OfModel & { must: Demand; given: Given }, name: NameOf) =>
    `${name(field)} must ${demandWords(must)} for this request of ${model} at present, got ${show(given)}.`,
  unrouted_field: ({ field, model }: OfModel, name: NameOf) =>
    `${name(field)} cannot be used for this request of ${model} at present.`,
  unrouted_mode: ({
    model,
    mode,
    modes,
  }: Omit<OfModel, "field"> & { field?: string | undefined; mode: string; modes: readonly Mode[] }) =>
    `These inputs make ${mode}, which ${model} does not do at present; it does ${modeNames(modes)}.`,
  no_edits: ({ model }: OfModel) => `${model} makes images from a prompt alone; it edits none.`,
  no_variations: ({ field, model }: Field & { model?: string }, name: NameOf) =>
    model === undefined
      ? `${name(field)}: no model that can be used here takes an image, so there are no variations of one.`
      : `${name(field)}: ${model} takes no image, so it makes no variations of one.`,
  image_unused: ({ field, model }: OfModel, name: NameOf) =>
    `${name(field)} cannot be given: ${model} takes no image.`,
  media_unused: ({ field, model }: OfModel, name: NameOf) =>
    `${name(field)} cannot be given: ${model} has no input for it.`,
  edits_one_image: ({ field, model, given }: OfModel & { given: number }, name: NameOf) =>
    `${name(field)}: ${model} edits one image at a time, got ${given}.`,
  image_required: ({ field }: Field, name: NameOf) =>
    `${name(field)} is required: at least one image to edit.`,
  too_many_images: ({ field }: Field, name: NameOf) =>
    `${name(field)}: at most ${MAX_EDIT_IMAGES} files can be edited at once.`,
  version_unknown: ({ field }: Field, name: NameOf) =>
    `${name(field)} names a version that does not exist, or that this key may not use.`,
} satisfies WordTable;
