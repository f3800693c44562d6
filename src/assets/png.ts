import { promisify } from "node:util";
import { type InputType, inflate, type ZlibOptions } from "node:zlib";
import { MediaError } from "../domain/ports/asset-store.ts";
import { exifOrientation } from "./exif.ts";
import { createParts, type ImageLayout } from "./layout.ts";
import { COLOUR_PROFILE_MAX_BYTES, IMAGE_MAX_PARTS } from "./limits.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

/** The four letters of a chunk's type, as the number that is compared: a file may have tens of thousands of chunks. */
const typeOf = (letters: string): number => Buffer.from(letters, "latin1").readUInt32BE();

/** Chunks that decide how the picture looks; every other chunk is metadata. https://www.w3.org/TR/png-3/ (2026-11-21) */
const VISIBLE = new Set(
  "IHDR PLTE tRNS IDAT IEND cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD pHYs".split(" ").map(typeOf),
);
const [ANIMATION, PROFILE, EXIF, SIGNED] = ["acTL", "iCCP", "eXIf", "caBX"].map(typeOf);
const [TRANSPARENT, PIXELS, END] = ["tRNS", "IDAT", "IEND"].map(typeOf);
const SIGNATURE_BYTES = 8;

/** @throws MediaError when the chunks do not make up one whole still image */
export function readPng(file: Uint8Array): ImageLayout {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 33 || ascii(file, 12, 16) !== "IHDR" || view.getUint32(8) !== 13) {
    throw damaged("the PNG header is missing");
  }
  const clean = createParts(file);
  clean.add(0, SIGNATURE_BYTES);
  let orientation: number | undefined;
  let hasPixels = false;
  let profile: Uint8Array | undefined;
  let isSigned = false;
  let parts = 0;
  // Grey or colour with an alpha channel; the other types name their transparent colours in tRNS.
  let hasAlpha = file[25] === 4 || file[25] === 6;
  for (let at = SIGNATURE_BYTES; at + 12 <= file.length; ) {
    const dataEnd = at + 8 + view.getUint32(at);
    const type = view.getUint32(at + 4);
    if (++parts > IMAGE_MAX_PARTS) throw damaged("it has too many chunks");
    if (dataEnd + 4 > file.length) break;
    if (type === ANIMATION)
      throw new MediaError("wrong_kind", "is animated, where a still image is expected");
    if (type === PROFILE) {
      // Each one is unpacked, and a file may have thousands of them.
      if (profile !== undefined) throw damaged("it has two colour profiles");
      profile = file.subarray(at + 8, dataEnd);
    }
    if (type === EXIF) orientation ??= exifOrientation(file.subarray(at + 8, dataEnd));
    if (type === SIGNED) isSigned = true;
    if (type === TRANSPARENT) hasAlpha = true;
    if (type === PIXELS) hasPixels = true;
    if (VISIBLE.has(type)) clean.add(at, dataEnd + 4);
    at = dataEnd + 4;
    if (type === END) {
      if (!hasPixels) break;
      return {
        width: view.getUint32(16),
        height: view.getUint32(20),
        orientation: orientation ?? 1,
        isCmyk: false,
        isSigned,
        hasAlpha,
        // Interlaced (https://www.w3.org/TR/png-3/#11IHDR, 2026-12).
        isWhole: file[28] === 1,
        profile,
        end: at,
        clean: clean.all(),
      };
    }
  }
  throw damaged("the PNG is cut short");
}

const unpack = promisify<InputType, ZlibOptions, Buffer>(inflate);

/**
 * Checks the unpacked size of a colour profile: decoders unpack it too, so it could be a decompression bomb.
 *
 * @param content of its chunk
 * @throws MediaError
 */
export async function checkColourProfile(content: Uint8Array): Promise<void> {
  const compressed = content.subarray(content.indexOf(0) + 2);
  try {
    await unpack(compressed, { maxOutputLength: COLOUR_PROFILE_MAX_BYTES });
  } catch (error) {
    throw damaged("its colour profile cannot be read", error);
  }
}
