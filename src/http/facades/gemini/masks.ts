import { invalid } from "../../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../../domain/limits.ts";
import { type AssetStore, MediaError } from "../../../domain/ports/asset-store.ts";
import type { InlineFile } from "../../../service/inline-files.ts";
import type { GivenMedia, MediaContext } from "./media.ts";

export interface MaskDeps {
  readonly assets: Pick<AssetStore, "readPaintedMask">;
}

const PIECE_BYTES = 256 * 1024;
const AS_IT_IS = { isInverted: false, blurPixels: 0 } as const;

/**
 * The mask that a painted picture stands for: that API says by white what is to be changed. One that is given by its address is
 * read by the create, which takes white ones, and transparency as this service has it.
 * @throws AppError naming it, where it is no picture
 */
export async function readMask(
  { assets }: MaskDeps,
  { inlineFiles }: MediaContext,
  mask: GivenMedia,
): Promise<GivenMedia> {
  const { address, path } = mask;
  const inline = inlineFiles?.get(address);
  const isText = inline === undefined && address.startsWith("data:");
  if (inline === undefined && !isText) return mask;
  const content = inline === undefined ? textContent(address) : await contentOf(inline, path);
  try {
    const read = await assets.readPaintedMask(content, AS_IT_IS);
    return { path, address: `data:image/png;base64,${Buffer.from(read).toString("base64")}` };
  } catch (error) {
    if (error instanceof MediaError)
      throw invalid({ kind: "finding", field: path, finding: error.message }, error);
    throw error;
  }
}

const textContent = (address: string) =>
  new Blob([Buffer.from(address.slice(address.indexOf(",") + 1), "base64")]);

async function contentOf({ file }: InlineFile, path: string): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  for await (const piece of file.read(PIECE_BYTES)) {
    sizeBytes += piece.length;
    const most = MAX_INPUT_BYTES.image;
    if (sizeBytes > most)
      throw invalid({ kind: "finding", field: path, finding: `is larger than ${most} bytes` });
    pieces.push(new Uint8Array(piece));
  }
  return new Blob(pieces);
}
