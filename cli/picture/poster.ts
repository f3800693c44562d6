import { formatDuration } from "../format/units.ts";
import { type Cells, fitPixels, HALVED_CELL } from "./fit.ts";
import { type Depth, drawHalfBlocks, halfBlocks } from "./half-blocks.ts";
import { isDrawing, scalePicture } from "./pixels.ts";
import { inspectVideo, isVideo } from "./video.ts";

/** A picture, or the first picture of a video and how long it is, in half blocks. @throws Error when it cannot be decoded */
export async function readPicture(bytes: Uint8Array, room: Cells, depth: Depth): Promise<string[]> {
  if (isDrawing(bytes)) return ["a drawing (SVG)"];
  if (!isVideo(bytes.subarray(0, 12))) return await drawHalfBlocks(bytes, room, depth);
  const { width, height, durationSec, poster } = await inspectVideo(bytes);
  const about = `${width}×${height}, ${formatDuration(durationSec * 1000)}`;
  if (poster === undefined) return [about];
  const pixels = await scalePicture(poster, (size) => fitPixels(size, room, HALVED_CELL));
  return [...halfBlocks(pixels, depth), about];
}
