import { ascii } from "./sniff.ts";

const ORIENTATION_TAG = 0x0112;
const SHORT = 3;

/**
 * The orientation an EXIF block asks for, 1 (upright) to 8; 1 when the block makes no sense.
 *
 * @param exif the TIFF structure, without the `Exif\0\0` that precedes it in JPEG files
 */
export function exifOrientation(exif: Uint8Array): number {
  const order = ascii(exif, 0, 2);
  if ((order !== "II" && order !== "MM") || exif.length < 8) return 1;
  const little = order === "II";
  const view = new DataView(exif.buffer, exif.byteOffset, exif.byteLength);
  const directory = view.getUint32(4, little);
  if (directory + 2 > exif.length) return 1;
  const count = view.getUint16(directory, little);
  for (let i = 0; i < count; i += 1) {
    const entry = directory + 2 + 12 * i;
    if (entry + 12 > exif.length) return 1;
    if (view.getUint16(entry, little) !== ORIENTATION_TAG) continue;
    const value = view.getUint16(entry + 2, little) === SHORT ? view.getUint16(entry + 8, little) : 1;
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}
