import type { MediaType } from "../domain/media/asset.ts";
import { erase, type FileWindow } from "./file-window.ts";
import { eraseMp4Metadata, readMp4 } from "./mp4.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

export type AudioType = Extract<MediaType, `audio/${string}`>;

/** Parts of a WAV file that say something other than how it sounds. */
const TELLING = new Set(["LIST", "bext", "iXML", "axml", "id3 ", "ID3 ", "_PMX", "cart", "SAUR", "aXML"]);
const MAX_CHUNKS = 10_000;

/**
 * Checks a recording's outer structure, and erases what tags and other metadata say, without moving a byte. The comments of an Ogg file
 * stay: they are within what its checksums cover.
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
      return false;
  }
}

async function eraseChunks(file: FileWindow, isErased: boolean): Promise<boolean> {
  let isChanged = false;
  let chunks = 0;
  for (let at = 12; at + 8 <= file.sizeBytes; ) {
    const head = await file.read(at, 8);
    const size = new DataView(head.buffer, head.byteOffset).getUint32(4, true);
    if (++chunks > MAX_CHUNKS) throw damaged("the WAV has too many parts");
    if (TELLING.has(ascii(head, 0, 4)) && isErased) {
      await file.write(at, new TextEncoder().encode("JUNK"));
      await erase(file, at + 8, Math.min(at + 8 + size, file.sizeBytes));
      isChanged = true;
    }
    at += 8 + size + (size % 2);
  }
  return isChanged;
}

/** ID3v2 before the sound and ID3v1 after it; https://id3.org/id3v2.4.0-structure (checked 2026-11-23). */
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
  const tailAt = file.sizeBytes - 128;
  if (tailAt > 0 && ascii(await file.read(tailAt, 3), 0, 3) === "TAG") {
    await erase(file, tailAt, file.sizeBytes);
    isChanged = true;
  }
  return isChanged;
}
