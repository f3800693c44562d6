import { open } from "node:fs/promises";
import type { Input, InputVideoTrack } from "mediabunny";
import { firstPicture } from "../../studio/decode.ts";
import type { Frame } from "../../studio/sprite.ts";
import { readFully } from "../file-window.ts";
import { shrinkImage, shrinkPixels } from "./picture.ts";

/**
 * The thumbnail of a video: its first picture.
 *
 * @returns undefined for a codec that is not decoded here: every one but VP8, and H.264 of the baseline profile
 * @throws Error when the file cannot be read as a video
 */
export function shrinkVideo(path: string, width: number): Promise<Uint8Array | undefined> {
  return withTrack(path, async (track) => {
    if (track.codec === "vp8") return shrinkImage(webpOf(await firstPacket(track)), width);
    const frame = await firstPicture(track);
    return frame && shrinkPixels(rgbOf(frame), frame, width);
  });
}

/** What becomes of the video track of a file; undefined where it has none. @throws Error when the file cannot be read as a video */
export async function withTrack<T>(
  path: string,
  use: (track: InputVideoTrack) => Promise<T>,
): Promise<T | undefined> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    using input = await openInput(size, (start, end) => readFully(handle, start, end - start));
    const track = await input.getPrimaryVideoTrack();
    return track === null ? undefined : await use(track);
  } finally {
    await handle.close();
  }
}

async function openInput(
  sizeBytes: number,
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<Input> {
  const media = await import("mediabunny");
  media.Logging.level = media.LogLevel.Silent;
  const source = new media.CustomSource({
    getSize: () => sizeBytes,
    read,
    maxCacheSize: 4 * 1024 * 1024,
    // The read that needs those bytes reports the same error.
    handleUnhandledError: () => undefined,
  });
  return new media.Input({ source, formats: [media.MP4, media.WEBM] });
}

async function firstPacket(track: InputVideoTrack): Promise<Uint8Array> {
  const { EncodedPacketSink } = await import("mediabunny");
  const packet = await new EncodedPacketSink(track).getFirstPacket();
  if (packet === null) throw new Error("it has no frames");
  return packet.data;
}

/** A key frame of VP8 is what a lossy WebP image holds (RFC 9649, section 2.5). */
export function webpOf(frame: Uint8Array): Uint8Array {
  const padding = frame.length % 2;
  const file = Buffer.alloc(20 + frame.length + padding);
  file.write("RIFF");
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WEBPVP8 ", 8);
  file.writeUInt32LE(frame.length, 16);
  file.set(frame, 20);
  return file;
}

/** BT.709 in the limited range, chroma at half the size. */
export function rgbOf({ width, height, y, u, v }: Frame): Uint8Array {
  const rgb = new Uint8ClampedArray(width * height * 3);
  let at = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const chroma = (row >> 1) * (width >> 1) + (column >> 1);
      const luma = 1.164 * ((y[row * width + column] ?? 16) - 16);
      const blue = (u[chroma] ?? 128) - 128;
      const red = (v[chroma] ?? 128) - 128;
      rgb[at++] = luma + 1.793 * red;
      rgb[at++] = luma - 0.213 * blue - 0.533 * red;
      rgb[at++] = luma + 2.112 * blue;
    }
  }
  return new Uint8Array(rgb.buffer);
}
