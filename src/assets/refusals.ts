import { MediaError } from "../domain/ports/asset-store.ts";

/** The file only looks like its type, is cut short, or does not decode. */
export function damaged(what: string, cause?: unknown): MediaError {
  return new MediaError("damaged", `is damaged: ${what}`, cause);
}

/** The picture is larger than the format of the store allows. @param most as a clause, `8192 a side` */
export function tooManyPixels(width: number, height: number, most: string): MediaError {
  return new MediaError("too_many_pixels", `is ${width}×${height} pixels, where at most ${most} are taken`);
}

/** A size of the file is over its limit. */
export function tooLarge(maxBytes: number): MediaError {
  return new MediaError("too_large", `is larger than ${byteText(maxBytes)}`);
}

function byteText(bytes: number): string {
  if (bytes >= 1024 * 1024) return `${Number((bytes / 1024 / 1024).toFixed(1))} MB`;
  return bytes >= 1024 ? `${Number((bytes / 1024).toFixed(1))} KB` : `${bytes} bytes`;
}
