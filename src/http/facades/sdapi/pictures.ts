import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import type { AccountId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { MAX_INPUT_BYTES } from "../../../domain/limits.ts";
import { dataUriHeader } from "../../../domain/media/data-uri.ts";
import type { AssetStore, StagedFile } from "../../../domain/ports/asset-store.ts";
import { GIVEN_PICTURE, paintedMask, refusing } from "../../../service/given-mask.ts";
import { type InlineFiles, stageInlineFile } from "../../../service/inline-files.ts";
import { createBase64Decoder } from "../../../toolkit/base64.ts";
import { onlyImageOf } from "./translate.ts";

/** Pictures of a request. */
export interface Pictures {
  /** What stands for the picture to draw anew: the name of an upload, or its address. */
  readonly image?: string | undefined;
  readonly mask?: string | undefined;
  /** Checks and stages them, by their names. @throws AppError naming the field at fault */
  uploads(): Promise<ReadonlyMap<string, StagedFile>>;
  /** Releases what was staged; files that a task uses stay. */
  release(): Promise<void>;
}

type Assets = Pick<AssetStore, "stage" | "open" | "readPaintedMask">;

/** That of the API, where a request does not say. */
const USUAL_BLUR = 4;
/** Names with a space, so that no address can equal them. */
const IMAGE = "upload: image";
const MASK = "upload: mask";

export const NO_PICTURES: Pictures = { uploads: async () => new Map(), release: async () => {} };

/** The pictures that a request gives, and what they came in. */
interface GivenPictures {
  readonly body: JsonObject;
  /** Those that were received while the body arrived. */
  readonly files: InlineFiles | undefined;
  readonly owner: AccountId;
}

/**
 * The picture to draw anew and its mask, which becomes one of ours: transparent where that API has it white.
 * @throws AppError for a request without a picture
 */
export function picturesOf({ assets }: { readonly assets: Assets }, given: GivenPictures): Pictures {
  const image = onlyImageOf(given.body);
  const { mask } = given.body;
  const isAddress = /^https?:\/\//i.test(image);
  const staged = new Map<string, StagedFile>();
  return {
    image: isAddress ? image : IMAGE,
    mask: typeof mask === "string" && mask !== "" ? MASK : undefined,
    async uploads() {
      if (!isAddress) staged.set(IMAGE, await stagePicture(assets, "init_images[0]", image, given));
      const size = staged.get(IMAGE)?.file;
      if (typeof mask === "string" && mask !== "")
        staged.set(MASK, await stageMask(assets, mask, { ...given, size }));
      return staged;
    },
    release: async () => void (await Promise.all([...staged.values()].map((file) => file.release(false)))),
  };
}

/** A picture of a request, staged. @throws AppError naming the field */
export async function stagePicture(
  assets: Pick<AssetStore, "stage">,
  param: string,
  given: string,
  { files, owner }: Pick<GivenPictures, "files" | "owner">,
): Promise<StagedFile> {
  const options = { ...GIVEN_PICTURE, owner };
  return refusing(param, async () => {
    const inline = files?.get(given);
    return inline === undefined
      ? assets.stage(decode(param, given), options)
      : stageInlineFile(param, inline, options);
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
  given: GivenPictures & { readonly size: StagedFile["file"] | undefined },
): Promise<StagedFile> {
  const { body, owner, size } = given;
  const { mask_blur: blur, mask_blur_x: across, mask_blur_y: down, inpainting_mask_invert: inverted } = body;
  const blurs = [blur, across, down].filter((each) => typeof each === "number");
  const how = {
    isInverted: inverted === true || inverted === 1,
    blurPixels: blurs.length === 0 ? USUAL_BLUR : Math.max(...blurs),
    size: size && { width: size.width, height: size.height },
  };
  return paintedMask(
    { assets },
    { param: "mask", owner, how },
    await stagePicture(assets, "mask", painted, given),
  );
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
