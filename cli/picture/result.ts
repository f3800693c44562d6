import { formatDuration } from "../format/units.ts";
import type { Cells } from "./fit.ts";
import { fitPixels } from "./fit.ts";
import { isDrawing, type Pixels, type Size, scalePicture } from "./pixels.ts";
import { inspectVideo, isVideo } from "./video.ts";

/** A saved result as it can be shown. */
export interface Result {
  /** A video's first picture, where it can be decoded. */
  readonly pixels?: Pixels | undefined;
  /** What else is worth saying, such as how long a video is. */
  readonly about?: string;
}

const LARGEST_BYTES = 100_000_000;
/** A picture of this many pixels in a cell is sharp on any screen. */
const DENSE_CELL: Size = { width: 20, height: 40 };

/** Reads a result, no larger than it is needed for this many cells. @throws Error when it cannot be decoded */
export async function readResult(path: string, room: Cells): Promise<Result> {
  const file = Bun.file(path);
  if (file.size > LARGEST_BYTES) throw new Error("it is too large");
  const bytes = await file.bytes();
  if (isDrawing(bytes)) return { about: "a drawing (SVG)" };
  const fit = (size: Size) => fitPixels(size, room, DENSE_CELL);
  if (!isVideo(bytes.subarray(0, 12))) return { pixels: await scalePicture(bytes, fit) };
  const { width, height, durationSec, poster } = await inspectVideo(bytes);
  return {
    pixels: poster && (await scalePicture(poster, fit)),
    about: `${width}×${height}, ${formatDuration(durationSec * 1000)}`,
  };
}
