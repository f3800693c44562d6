import { damaged } from "./refusals.ts";

/** One picture of a GIF: where it lies on the whole, and where its data begin in the file. */
export interface GifFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly data: number;
}

const MOST_CODES = 4096;
const LONGEST_CODE = 12;

/**
 * Proves that the codes of a frame stand for all of its pixels. Decoders fill up what is missing, so that a frame with half of its
 * data would pass for whole. Counts the pixels and makes none.
 *
 * @param turns counts the bytes that were worked on, and ends the turn when they are many
 * @throws MediaError
 */
export async function checkGifFrame(
  file: Uint8Array,
  { width, height, data }: GifFrame,
  turns: (bytes: number) => Promise<void> | undefined,
): Promise<void> {
  const counter = createCounter(file[data] ?? 0, width * height);
  for (let at = data + 1; ; ) {
    const length = file[at] ?? 0;
    const from = at + 1;
    at = from + length;
    if (length === 0 || at > file.length) throw missing();
    if (counter.count(file, from, at) === "all") return;
    const turn = turns(length);
    if (turn !== undefined) await turn;
  }
}

/** Counts the pixels that the codes of the format's compression (LZW) stand for. @param firstBits of the colours */
function createCounter(firstBits: number, wanted: number) {
  if (firstBits < 1 || firstBits > 8) throw damaged("a frame cannot be decoded");
  const clear = 1 << firstBits;
  const end = clear + 1;
  /** How many pixels each code stands for. */
  const lengths = new Uint16Array(MOST_CODES).fill(1, 0, clear);
  let next = end + 1;
  let size = firstBits + 1;
  let bits = 0;
  let held = 0;
  /** Pixels of the code before; 0 at the start. */
  let previous = 0;
  let pixels = 0;

  function take(code: number): void {
    if (code === clear) {
      next = end + 1;
      size = firstBits + 1;
      previous = 0;
      return;
    }
    if (code === end) throw missing();
    if (code > next || (previous === 0 && code > end)) throw damaged("a frame cannot be decoded");
    // A code that was not there before is the one before and its first pixel once more.
    if (previous !== 0 && next < MOST_CODES) {
      lengths[next] = previous + 1;
      next += 1;
      if (next === 1 << size && size < LONGEST_CODE) size += 1;
    } else if (code >= next) throw damaged("a frame cannot be decoded");
    previous = lengths[code] ?? 0;
    pixels += previous;
  }

  return {
    count(file: Uint8Array, from: number, to: number): "all" | "some" {
      for (let at = from; at < to; at += 1) {
        bits |= (file[at] ?? 0) << held;
        held += 8;
        while (held >= size) {
          const code = bits & ((1 << size) - 1);
          bits >>>= size;
          held -= size;
          take(code);
          if (pixels >= wanted) return "all";
        }
      }
      return "some";
    },
  };
}

function missing() {
  return damaged("a frame is cut short");
}
