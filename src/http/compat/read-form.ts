import { invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { MAX_EDIT_IMAGES, MAX_INPUT_BYTES } from "../../domain/limits.ts";
import { type AssetStore, MediaError, type StagedFile } from "../../domain/ports/asset-store.ts";
import type { Incoming } from "../ingress/incoming.ts";
import { type MultipartLimits, readMultipart } from "../multipart/read.ts";
import { type CompatBody, isImageField, readForm } from "./read-request.ts";

/** A form whose files are staged. */
export interface EditForm {
  readonly body: CompatBody;
  /** By the names that the body uses for them. */
  readonly uploads: ReadonlyMap<string, StagedFile>;
  /** Equal for equal forms: their fields, and the hashes of their files. */
  readonly identity: JsonObject;
  /** Releases the files; those that a task uses stay. */
  release(): Promise<void>;
}

/** Allows some files of unknown fields, which are read and dropped. */
const FORM_LIMITS: MultipartLimits = {
  maxFiles: MAX_EDIT_IMAGES + 6,
  maxFields: 32,
  maxFieldBytes: 64 * 1024,
  maxHeaderBytes: 8 * 1024,
};

export interface EditFormDeps {
  readonly assets: AssetStore;
}

interface Upload {
  readonly field: string;
  /** Absent for a file of an unknown field. */
  readonly staged?: StagedFile | undefined;
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
  const stage = async (field: string, content: AsyncIterable<Uint8Array>): Promise<Upload> => {
    if (field !== "mask" && !isImageField(field)) return { field };
    const param = field === "mask" ? "mask" : `image[${images++}]`;
    if (images > MAX_EDIT_IMAGES) throw invalid({ kind: "too_many_images", field: "image" });
    await incoming.takeFile();
    try {
      const options = { accept: ["image"] as const, maxBytes: MAX_INPUT_BYTES.image, sanitize: true };
      return { field, staged: await deps.assets.stage(content, options) };
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      const facts = { kind: "finding", field: param, finding: error.message } as const;
      throw invalid(facts, error);
    }
  };
  const drop = async ({ staged }: Upload) => staged?.release(false);
  const form = await readMultipart(request, incoming, FORM_LIMITS, stage, drop);
  const files = form.files.map(({ value }) => value);
  const release = async () => void (await Promise.all(files.map(drop)));
  try {
    return { ...assemble(form.fields, files), release };
  } catch (error) {
    await release();
    throw error;
  }
}

function assemble(
  fields: readonly { readonly name: string; readonly value: string }[],
  files: readonly Upload[],
): Omit<EditForm, "release"> {
  const uploads = new Map<string, StagedFile>();
  const named = files.flatMap(({ field, staged }, i) => {
    if (staged === undefined) return [];
    // An upload's name has a space, so no address that a caller sends can equal it.
    const name = `upload: ${i}`;
    uploads.set(name, staged);
    return [{ field, name, sha256: staged.file.sha256 }];
  });
  const of = (isMask: boolean) =>
    named.filter(({ field }) => (field === "mask") === isMask).map(({ name }) => name);
  return {
    body: readForm(fields, { images: of(false), masks: of(true) }),
    uploads,
    identity: {
      fields: fields.map(({ name, value }) => [name, value]),
      files: named.map(({ field, sha256 }) => [field, sha256]),
    },
  };
}
