import type { MediaType } from "../domain/media/asset.ts";
import { erase, type FileWindow } from "./file-window.ts";
import { eraseMp4Metadata, readMp4 } from "./mp4.ts";
import { eraseOggMetadata } from "./ogg.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

export type AudioType = Extract<MediaType, `audio/${string}`>;

/** Parts of a WAV file that do not affect its sound. */
const TELLING = new Set(["LIST", "bext", "iXML", "axml", "id3 ", "ID3 ", "_PMX", "cart", "SAUR", "aXML"]);
const MAX_CHUNKS = 10_000;

/**
 * Checks a recording's outer structure, and erases what tags and other metadata say, without moving a byte.
 *
 * @returns whether the file was changed
 * @throws MediaError
 */
export async function eraseAudioMetadata(
  file: FileWindow,
  type: AudioType,
  isErased: boolean,
): Promise<boolean> {
  switch (type) {
    case "audio/mp4": {
      const boxes = await readMp4(file);
      if (!isErased || boxes.length === 0) return false;
      await eraseMp4Metadata(file, boxes);
      return true;
    }
    case "audio/wav":
      return eraseChunks(file, isErased);
    case "audio/mpeg":
      return isErased && eraseTags(file);
    case "audio/ogg":
      if (isErased) await eraseOggMetadata(file);
      return isErased;
  }
}

async function eraseChunks(file: FileWindow, isErased: boolean): Promise<boolean> {
  let isChanged = false;
  let chunks = 0;
  for (let at = 12; at + 8 <= file.sizeBytes; ) {
    const head = await file.read(at, 8);
    const size = new DataView(head.buffer, head.byteOffset).getUint32(4, true);
    if (++chunks > MAX_CHUNKS) throw damaged("the WAV has too many parts");
    if (isErased && size === 0 && ascii(head, 0, 4) === "data" && (await writeLength(file, at))) return true;
    if (TELLING.has(ascii(head, 0, 4)) && isErased) {
      await file.write(at, new TextEncoder().encode("JUNK"));
      await erase(file, at + 8, Math.min(at + 8 + size, file.sizeBytes));
      isChanged = true;
    }
    at += 8 + size + (size % 2);
  }
  return isChanged;
}

/**
 * Writes the length of a WAV's sound where its writer could not, because it wrote to a pipe: all that follows is sound.
 *
 * @returns whether anything follows that is not a part of its own
 */
async function writeLength(file: FileWindow, at: number): Promise<boolean> {
  const from = at + 8;
  if (from >= file.sizeBytes || TELLING.has(ascii(await file.read(from, 4), 0, 4))) return false;
  const lengths = [file.sizeBytes - 8, file.sizeBytes - from];
  for (const [i, place] of [4, at + 4].entries()) {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, lengths[i] ?? 0, true);
    await file.write(place, bytes);
  }
  return true;
}

/**
 * ID3v2 before the sound; ID3v1, and APE before that, after it. https://id3.org/id3v2.4.0-structure,
 * https://wiki.hydrogenaudio.org/index.php?title=APEv2_specification (checked 2026-11-23)
 */
async function eraseTags(file: FileWindow): Promise<boolean> {
  let isChanged = false;
  const head = await file.read(0, Math.min(10, file.sizeBytes));
  if (ascii(head, 0, 3) === "ID3") {
    const size = [6, 7, 8, 9].reduce((sum, i) => sum * 128 + ((head[i] ?? 0) & 0x7f), 0);
    // Without flags, so that nothing of what is erased is read as a header.
    await file.write(5, new Uint8Array(1));
    await erase(file, 10, Math.min(10 + size, file.sizeBytes));
    isChanged = true;
  }
  let end = file.sizeBytes;
  for (const bytesOf of [id3v1Bytes, apeBytes]) {
    const from = Math.max(0, end - (await bytesOf(file, end)));
    if (from < end) isChanged = true;
    await erase(file, from, end);
    end = from;
  }
  return isChanged;
}

/** Bytes of the ID3v1 tag that ends here; 0 without one. */
async function id3v1Bytes(file: FileWindow, end: number): Promise<number> {
  return end > 128 && ascii(await file.read(end - 128, 3), 0, 3) === "TAG" ? 128 : 0;
}

const APE_HEADER_BYTES = 32;

/** Bytes of the APE tag that ends here; 0 without one. */
async function apeBytes(file: FileWindow, end: number): Promise<number> {
  if (end < APE_HEADER_BYTES) return 0;
  const footer = await file.read(end - APE_HEADER_BYTES, APE_HEADER_BYTES);
  if (ascii(footer, 0, 8) !== "APETAGEX") return 0;
  const view = new DataView(footer.buffer, footer.byteOffset);
  // Its size leaves out the header, which the highest of the flags tells of.
  const hasHeader = view.getUint8(23) >= 0x80;
  return Math.max(APE_HEADER_BYTES, view.getUint32(12, true)) + (hasHeader ? APE_HEADER_BYTES : 0);
}
