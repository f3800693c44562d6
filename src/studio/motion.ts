import type { SourcePicture } from "./decode.ts";
import { createRandom } from "./random.ts";
import type { Frame } from "./sprite.ts";

/** Position of the moved object at `t`: −1 … 1 on both axes, starting near the centre. */
export type MotionPath = (t: number) => { readonly x: number; readonly y: number };

const COLUMNS = 32;
const ROWS = 18;

interface Sample {
  readonly t: number;
  readonly x: number;
  readonly y: number;
}

/** Follows the centre of change from picture to picture, smoothed and scaled; undefined when nothing in the video moves. */
export async function estimateMotion(
  pictures: AsyncGenerator<SourcePicture, void>,
  durationSec: number,
): Promise<MotionPath | undefined> {
  const samples: Sample[] = [];
  let before: Float32Array | undefined;
  for await (const picture of pictures) {
    const grid = shrink(picture.frame);
    const centre = before === undefined ? undefined : centreOfChange(before, grid);
    if (centre !== undefined) samples.push({ t: picture.untilSec, ...centre });
    before = grid;
    if (picture.untilSec >= durationSec) break;
  }
  const [first] = samples;
  if (first === undefined || samples.length < 3) return undefined;
  const smooth = smoothed(samples);
  const reach = Math.max(0.05, ...smooth.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y))));
  return (t) => {
    const found = smooth.findIndex((sample) => sample.t >= t);
    const next = smooth[found === -1 ? smooth.length - 1 : found] ?? first;
    const prior = smooth[Math.max(0, (found === -1 ? smooth.length : found) - 1)] ?? next;
    const part = next.t === prior.t ? 0 : Math.min(1, Math.max(0, (t - prior.t) / (next.t - prior.t)));
    return {
      x: ((prior.x + (next.x - prior.x) * part) / reach) * 0.95,
      y: ((prior.y + (next.y - prior.y) * part) / reach) * 0.95,
    };
  };
}

/** A path for a video whose pictures cannot be read. */
export function wanderingPath(seed: number): MotionPath {
  const random = createRandom("path", seed);
  const [fast, slow] = [random.range(1.4, 2.2), random.range(0.7, 1.1)];
  return (t) => ({ x: 0.85 * Math.sin(t * slow), y: 0.7 * Math.sin(t * fast) });
}

function shrink(frame: Frame): Float32Array {
  const grid = new Float32Array(COLUMNS * ROWS);
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      let sum = 0;
      for (let k = 0; k < 16; k++) {
        const x = Math.floor(((column + ((k & 3) + 0.5) / 4) / COLUMNS) * frame.width);
        const y = Math.floor(((row + ((k >> 2) + 0.5) / 4) / ROWS) * frame.height);
        sum += frame.y[y * frame.width + x] ?? 0;
      }
      grid[row * COLUMNS + column] = sum / 16;
    }
  }
  return grid;
}

function centreOfChange(before: Float32Array, after: Float32Array): { x: number; y: number } | undefined {
  let [weight, x, y] = [0, 0, 0];
  for (let i = 0; i < after.length; i++) {
    const change = Math.max(0, Math.abs((after[i] ?? 0) - (before[i] ?? 0)) - 1.5);
    weight += change;
    x += change * ((i % COLUMNS) / (COLUMNS - 1) - 0.5);
    y += change * (Math.floor(i / COLUMNS) / (ROWS - 1) - 0.5);
  }
  return weight < 2 ? undefined : { x: x / weight, y: y / weight };
}

function smoothed(samples: readonly Sample[]): Sample[] {
  const [origin] = samples;
  return samples.map(({ t }, i) => {
    const near = samples.slice(Math.max(0, i - 6), i + 7);
    const x = near.reduce((sum, sample) => sum + sample.x, 0) / near.length - (origin?.x ?? 0);
    const y = near.reduce((sum, sample) => sum + sample.y, 0) / near.length - (origin?.y ?? 0);
    return { t, x, y };
  });
}
