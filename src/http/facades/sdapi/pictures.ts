import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { MAX_INPUT_BYTES } from "../../../domain/limits.ts";
import { dataUriHeader } from "../../../domain/media/data-uri.ts";
import {
  type AssetStore,
  MediaError,
  type PutOptions,
  type StagedFile,
} from "../../../domain/ports/asset-store.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import { createBase64Decoder } from "../../../toolkit/base64.ts";
import { onlyImageOf } from "./translate.ts";

/** Pictures of a request, checked and staged. */
export interface Pictures {
  /** What stands for the picture to draw anew: the name of an upload, or its address. */
  readonly image?: string | undefined;
  readonly mask?: string | undefined;
  /** By their names. */
  readonly uploads: ReadonlyMap<string, StagedFile>;
  /** Equal for equal pictures. */
  readonly identity: JsonObject;
  /** Releases the files; those that a task uses stay. */
  release(): Promise<void>;
}

type Assets = Pick<AssetStore, "stage" | "readPaintedMask">;

const OPTIONS: PutOptions = { accept: ["image"], maxBytes: MAX_INPUT_BYTES.image, sanitize: true };
/** That of the API, where a request does not say. */
const USUAL_BLUR = 4;

export const NO_PICTURES: Pictures = { uploads: new Map(), identity: {}, release: async () => {} };

/**
 * Stages the picture to draw anew and its mask, which becomes one of ours: transparent where that API has it white.
 * @param files those that were received while the body arrived
 * @throws AppError naming the field at fault; then no file is kept
 */
export async function stagePictures(
  { assets }: { readonly assets: Assets },
  body: JsonObject,
  files: InlineFiles | undefined,
): Promise<Pictures> {
  const given = onlyImageOf(body);
  const staged = new Map<string, StagedFile>();
  const release = async () =>
    void (await Promise.all([...staged.values()].map((file) => file.release(false))));
  const keep = (name: string, file: StagedFile) => {
    // A name with a space, so that no address can equal it.
    staged.set(name, file);
    return name;
  };
  try {
    const isAddress = /^https?:\/\//i.test(given);
    const image = isAddress
      ? given
      : keep("upload: image", await stagePicture(assets, "init_images[0]", given, files));
    const size = staged.get(image)?.file;
    const painted = body.mask;
    const mask =
      typeof painted !== "string" || painted === ""
        ? undefined
        : keep("upload: mask", await stageMask(assets, painted, { body, files, size }));
    const shaOf = (name: string | undefined) =>
      name === undefined ? undefined : staged.get(name)?.file.sha256;
    return {
      image,
      mask,
      uploads: staged,
      identity: { image: shaOf(image) ?? image, mask: shaOf(mask) },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A picture of a request, staged. @throws AppError naming the field */
export async function stagePicture(
  assets: Pick<AssetStore, "stage">,
  param: string,
  given: string,
  files: InlineFiles | undefined,
): Promise<StagedFile> {
  return checking(param, async () => {
    const inline = files?.get(given);
    if (inline?.end === undefined && inline !== undefined)
      throw invalid({ kind: "not_base64", field: param });
    return inline === undefined ? assets.stage(decode(param, given), OPTIONS) : inline.file.stage(OPTIONS);
  });
}

/** The bytes of a picture, as they were sent. @throws AppError naming the field; for one that is too large, too */
export async function bytesOfPicture(
  param: string,
  given: string,
  files: InlineFiles | undefined,
): Promise<Uint8Array> {
  const inline = files?.get(given);
  if (inline === undefined) return decode(param, given);
  if (inline.end === undefined) throw invalid({ kind: "not_base64", field: param });
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of inline.file.read(64 * 1024)) {
    sizeBytes += piece.length;
    if (sizeBytes > MAX_INPUT_BYTES.image)
      throw invalid({
        kind: "finding",
        field: param,
        finding: `is larger than ${MAX_INPUT_BYTES.image} bytes`,
      });
    pieces.push(Uint8Array.from(piece));
  }
  return Buffer.concat(pieces);
}

async function stageMask(
  assets: Assets,
  painted: string,
  {
    body,
    files,
    size,
  }: {
    readonly body: JsonObject;
    readonly files: InlineFiles | undefined;
    readonly size: StagedFile["file"] | undefined;
  },
): Promise<StagedFile> {
  const bytes = await bytesOfPicture("mask", painted, files);
  const { mask_blur: blur, mask_blur_x: across, mask_blur_y: down, inpainting_mask_invert: inverted } = body;
  const blurs = [blur, across, down].filter((each) => typeof each === "number");
  const how = {
    isInverted: inverted === true || inverted === 1,
    blurPixels: blurs.length === 0 ? USUAL_BLUR : Math.max(...blurs),
    size: size && { width: size.width, height: size.height },
  };
  return checking("mask", async () => {
    // Its size is checked before all of it is decoded.
    const checked = await assets.stage(bytes, OPTIONS);
    await checked.release(false);
    return assets.stage(await assets.readPaintedMask(new Blob([Uint8Array.from(bytes)]), how), OPTIONS);
  });
}

async function checking<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw invalid({ kind: "finding", field: param, finding: error.message }, error);
  }
}

function decode(param: string, given: string): Uint8Array {
  if (/^https?:\/\//i.test(given)) throw mustBe(param, { rule: "be a picture as base64" });
  const decoder = createBase64Decoder();
  const bytes = decoder.decode(given.slice(dataUriHeader(given)?.length ?? 0));
  const last = bytes && decoder.end();
  if (bytes === undefined || last === undefined)
    throw new AppError("invalid_request", { kind: "not_base64", field: param });
  return Buffer.concat([bytes, last.bytes]);
}
