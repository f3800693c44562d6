import { MediaError } from "../domain/ports/asset-store.ts";
import { createTurns } from "../toolkit/next-turn.ts";
import { checkGifFrame, type GifFrame } from "./gif-frame.ts";
import { appendPart, type ImageLayout } from "./layout.ts";
import { GIF_MAX_FRAMES, GIF_MAX_PIXELS, IMAGE_MAX_PARTS } from "./limits.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

export interface GifLayout extends ImageLayout {
  readonly frames: readonly GifFrame[];
  /** Of one pass; undefined for a still picture. */
  readonly durationMs: number | undefined;
}

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt (checked 2026-11-23) */
const TRAILER = 0x3b;
const IMAGE = 0x2c;
const EXTENSION = 0x21;
const GRAPHIC_CONTROL = 0xf9;
const PLAIN_TEXT = 0x01;
const APPLICATION = 0xff;
/** The applications whose extension says how often an animation is repeated. */
const REPEATING = /^(?:NETSCAPE2\.0|ANIMEXTS1\.0)$/;
const CLEARED_AFTERWARDS = 2;
/** Players show frames that are shorter than the first for as long as the second. */
const SHORTEST_MS = 20;
const SHOWN_INSTEAD_MS = 100;

/** What is said of the next frame, and where. */
interface Control {
  readonly from: number;
  readonly to: number;
  readonly delayMs: number;
  readonly isSeeThrough: boolean;
}

/** @throws MediaError when the blocks do not make up a whole picture or animation */
export function readGif(file: Uint8Array): GifLayout {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 13) throw cutShort();
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  const frames: GifFrame[] = [];
  let control: Control | undefined;
  let durationMs = 0;
  let hasAlpha = false;
  let isSigned = false;
  let parts = 0;
  let at = 13 + colourTableBytes(file[10]);
  const clean = [file.subarray(0, Math.min(at, file.length))];
  for (; at < file.length; ) {
    if (++parts > IMAGE_MAX_PARTS) throw damaged("it has too many parts");
    const from = at;
    if (file[at] === TRAILER) {
      if (frames.length === 0) throw damaged("the GIF has no picture");
      appendPart(clean, file, at, at + 1);
      const isStill = frames.length === 1;
      const rest = { orientation: 1, isCmyk: false, isWhole: false, hasAlpha, isSigned, end: at + 1, clean };
      return { ...size, ...rest, frames, durationMs: isStill ? undefined : durationMs };
    }
    if (file[at] === IMAGE) {
      const frame = frameAt(file, view, at);
      at = endOfBlocks(file, frame.data + 1);
      hasAlpha ||= control?.isSeeThrough === true || (frames.length === 0 && !covers(frame, size));
      frames.push(frame);
      refuseFrame(frame, frames.length, size);
      durationMs += control === undefined ? SHOWN_INSTEAD_MS : control.delayMs;
      if (control !== undefined) appendPart(clean, file, control.from, control.to);
      control = undefined;
      appendPart(clean, file, from, at);
      continue;
    }
    if (file[at] !== EXTENSION) throw damaged("the GIF has a part of no known kind");
    const label = file[at + 1];
    at = endOfBlocks(file, at + 2);
    if (label === GRAPHIC_CONTROL) control = controlIn(file, view, from, at);
    // No player draws such a text. What controls it must not control the next frame.
    if (label === PLAIN_TEXT) control = undefined;
    if (label !== APPLICATION || file[from + 2] !== 11) continue;
    const application = ascii(file, from + 3, from + 14);
    if (application.startsWith("C2PA_GIF")) isSigned = true;
    if (REPEATING.test(application)) appendRepetition(clean, file, from);
  }
  throw cutShort();
}

/** Proves that every pixel of every frame exists. Lets other work run in between. @throws MediaError */
export async function checkGifFrames(file: Uint8Array, { frames }: GifLayout): Promise<void> {
  const turns = createTurns();
  for (const frame of frames) await checkGifFrame(file, frame, turns);
}

function frameAt(file: Uint8Array, view: DataView, at: number): GifFrame {
  if (at + 10 >= file.length) throw cutShort();
  const [left, top, width, height] = [1, 3, 5, 7].map((offset) => view.getUint16(at + offset, true));
  if (left === undefined || top === undefined || width === undefined || height === undefined)
    throw cutShort();
  const data = at + 10 + colourTableBytes(file[at + 9]);
  return { left, top, width, height, data };
}

function refuseFrame(frame: GifFrame, count: number, size: { width: number; height: number }): void {
  const { left, top, width, height } = frame;
  if (width === 0 || height === 0) throw damaged("a frame has no pixels");
  if (left + width > size.width || top + height > size.height)
    throw damaged("a frame is larger than the picture");
  if (count > GIF_MAX_FRAMES || count * size.width * size.height > GIF_MAX_PIXELS) {
    const most = `${GIF_MAX_FRAMES} frames of ${GIF_MAX_PIXELS / 1_000_000} million pixels in all`;
    throw new MediaError("too_many_pixels", `has too many frames; at most ${most} are taken`);
  }
}

function covers({ width, height }: GifFrame, size: { width: number; height: number }): boolean {
  return width === size.width && height === size.height;
}

function controlIn(file: Uint8Array, view: DataView, from: number, to: number): Control {
  if (to - from !== 8 || file[from + 2] !== 4) throw damaged("the GIF has a part of the wrong length");
  const flags = file[from + 3] ?? 0;
  const delayMs = view.getUint16(from + 4, true) * 10;
  return {
    from,
    to,
    delayMs: delayMs < SHORTEST_MS ? SHOWN_INSTEAD_MS : delayMs,
    isSeeThrough: (flags & 1) !== 0 || ((flags >> 2) & 7) === CLEARED_AFTERWARDS,
  };
}

/** Keeps how often an animation is repeated, and nothing else that stands in the same extension. */
function appendRepetition(clean: Uint8Array[], file: Uint8Array, from: number): void {
  const REPEATS_BYTES = 3;
  const data = from + 14;
  if (file[data] !== REPEATS_BYTES || file[data + 1] !== 1) return;
  const end = data + 1 + REPEATS_BYTES;
  if (file[end] === 0) appendPart(clean, file, from, end + 1);
  else clean.push(file.subarray(from, end), new Uint8Array(1));
}

/** Where a run of blocks, each with its length before it, ends: after the empty one. */
function endOfBlocks(file: Uint8Array, from: number): number {
  for (let at = from; at < file.length; ) {
    const length = file[at] ?? 0;
    at += length + 1;
    if (length === 0) return at;
  }
  throw cutShort();
}

function colourTableBytes(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function cutShort(): MediaError {
  return damaged("the GIF is cut short");
}
