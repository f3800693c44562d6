import type { Pixels, Size } from "./pixels.ts";

/** What can be told of a video without playing it. */
export interface VideoFacts extends Size {
  readonly durationSec: number;
  /** Its first picture; absent for what cannot be decoded here, which is all but H.264 of the baseline profile. */
  readonly poster?: Pixels | undefined;
}

/** Whether these are the first bytes of an MP4 or WebM file. Pictures in AVIF and HEIC have the box of an MP4, too. */
export function isVideo(head: Uint8Array): boolean {
  const ascii = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to));
  if (ascii(4, 8) === "ftyp") return !/^(?:avi[fs]|hei[cxs]|mif1)$/.test(ascii(8, 12));
  return ascii(0, 4) === "\u001aE\u00df\u00a3";
}

/** @throws Error when it is no video */
export async function inspectVideo(bytes: Uint8Array): Promise<VideoFacts> {
  const { ALL_FORMATS, BufferSource, Input } = await import("mediabunny");
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error("it has no pictures");
  const { displayWidth: width, displayHeight: height } = track;
  const durationSec = await track.computeDuration();
  return { width, height, durationSec, poster: await firstPicture(bytes).catch(() => undefined) };
}

async function firstPicture(bytes: Uint8Array): Promise<Pixels | undefined> {
  const { openSource } = await import("../../src/studio/decode.ts");
  const { pictures } = await openSource(bytes);
  if (pictures === undefined) return undefined;
  for await (const { frame } of pictures()) return rgbaOf(frame);
  return undefined;
}

interface Planes extends Size {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

/** BT.709 in the limited range, chroma at half the size. */
function rgbaOf({ width, height, y, u, v }: Planes): Pixels {
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const chroma = (row >> 1) * (width >> 1) + (column >> 1);
      const luma = 1.164 * ((y[row * width + column] ?? 16) - 16);
      const blue = (u[chroma] ?? 128) - 128;
      const red = (v[chroma] ?? 128) - 128;
      rgba.set(
        [luma + 1.793 * red, luma - 0.213 * blue - 0.533 * red, luma + 2.112 * blue, 255],
        (row * width + column) * 4,
      );
    }
  }
  return { width, height, rgba: new Uint8Array(rgba.buffer) };
}
