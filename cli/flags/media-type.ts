import type { MediaType } from "../../src/domain/media/asset.ts";

/** The media type of a file by its first bytes; undefined for types that the service does not take. */
export function sniffMediaType(bytes: Uint8Array): MediaType | undefined {
  const ascii = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (ascii(0, 8) === "\u0089PNG\r\n\u001a\n") return "image/png";
  if (ascii(0, 3) === "\u00ff\u00d8\u00ff") return "image/jpeg";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return "image/webp";
  if (ascii(4, 8) === "ftyp") return "video/mp4";
  if (ascii(0, 4) === "\u001aE\u00df\u00a3") return "video/webm";
  return undefined;
}
