import { loadInside } from "./inputs.ts";
import type { Random } from "./random.ts";
import { type ImageSource, InputInvalidError } from "./render-job.ts";
import { drawSprite, type Sprite, spriteFromRgba } from "./sprite.ts";
import { type Act, dimAct, even, type Size } from "./stage.ts";

const MOST_IMAGES = 5;
const USED_HEIGHT = 0.8;

/** Shows every reference image as a floating photo card. All cards stay in view. */
export async function referenceActs(
  images: readonly ImageSource[],
  size: Size,
  random: Random,
): Promise<Act[]> {
  if (images.length < 1 || images.length > MOST_IMAGES) {
    throw new InputInvalidError(`A reference video takes 1 to ${MOST_IMAGES} images, got ${images.length}.`);
  }
  const cells = arrange(images.length, size);
  const acts: Act[] = [await dimAct(0.32, size)];
  for (const [i, bytes] of images.entries()) {
    const cell = cells[i];
    if (cell === undefined) continue;
    const card = await drawCard(bytes, `reference image ${i + 1}`, cell);
    const tilt = random.range(-0.07, 0.07);
    const phase = random.range(0, Math.PI * 2);
    const reach = Math.min(cell.width, cell.height) * 0.022;
    acts.push((frame, t) => {
      const angle = tilt + 0.025 * Math.sin(t * 1.1 + phase);
      const x = cell.x + reach * Math.sin(t * 0.9 + phase);
      const y = cell.y + reach * Math.cos(t * 1.3 + phase);
      const zoom = 1 + 0.015 * Math.sin(t * 1.5 + phase);
      const [cos, sin] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom];
      const [w, h] = [card.width / 2, card.height / 2];
      const [e, f] = [x - cos * w + sin * h, y - sin * w - cos * h];
      drawSprite(frame, card, { a: cos, b: -sin, c: sin, d: cos, e, f });
    });
  }
  return acts;
}

interface Cell extends Size {
  /** The centre. */
  readonly x: number;
  readonly y: number;
}

/** Rows of nearly equal length, as many as make the cards largest. */
function arrange(count: number, size: Size): Cell[] {
  let best: Cell[] = [];
  for (let rows = 1; rows <= count; rows++) {
    const longest = Math.ceil(count / rows);
    const width = size.width / longest;
    const height = (size.height * USED_HEIGHT) / rows;
    const cells = Array.from({ length: count }, (_, i): Cell => {
      const row = Math.floor(i / longest);
      const inRow = Math.min(longest, count - row * longest);
      const x = size.width / 2 + ((i % longest) - (inRow - 1) / 2) * width;
      return { x, y: size.height * 0.02 + (row + 0.5) * height, width, height };
    });
    const [a, b] = [cells[0], best[0]];
    if (a && (!b || Math.min(a.width, a.height) > Math.min(b.width, b.height))) best = cells;
  }
  return best;
}

async function drawCard(source: ImageSource, name: string, cell: Size): Promise<Sprite> {
  const inner = (side: number) => Math.max(2, Math.round(side * 0.78));
  const room = { width: inner(cell.width), height: inner(cell.height) };
  const photo = await loadInside(source, name, room);
  const rim = Math.max(1, Math.round(Math.min(room.width, room.height) * 0.028));
  const shadow = rim * 2;
  const [width, height] = [even(photo.width + 2 * (rim + shadow)), even(photo.height + 2 * (rim + shadow))];
  let svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`;
  const frame = (outset: number, style: string): string => {
    const at = shadow - outset;
    const [w, h] = [photo.width + 2 * (rim + outset), photo.height + 2 * (rim + outset)];
    return `<rect x="${at}" y="${at}" width="${w}" height="${h}" rx="${rim * 0.6 + outset}" ${style}/>`;
  };
  for (let i = 4; i >= 1; i--) svg += frame((shadow * i) / 5, `fill="#000" fill-opacity="0.13"`);
  svg += `${frame(0, `fill="#fdfcf8"`)}</svg>`;
  const { default: sharp } = await import("sharp");
  const input = Buffer.from(photo.rgba.buffer, photo.rgba.byteOffset, photo.rgba.byteLength);
  const raw = { width: photo.width, height: photo.height, channels: 4 } as const;
  const at = shadow + rim;
  const drawn = sharp(Buffer.from(svg)).composite([{ input, raw, left: at, top: at }]);
  const rgba = await drawn.ensureAlpha().raw().toBuffer();
  return spriteFromRgba(rgba, width, height);
}
