import type { OverlayOptions } from "sharp";
import { SHEET_MOST_PX } from "../../domain/media/thumbnail.ts";
import { fit, tidy } from "../../studio/caption.ts";
import { loadTypeface } from "../../studio/typeface.ts";
import { IMAGE_DECODE_SECONDS } from "../limits.ts";
import { openSharp } from "./picture.ts";

/** A place of a sheet: its picture, if there is one, and what is written below. */
export interface DrawnCell {
  readonly picture: Uint8Array | undefined;
  readonly label: readonly string[];
}

const LARGEST_CELL_PX = 320;
const GAP_PX = 8;
const LINES = 2;
const LINE_HEIGHT = 1.35;
const COLOURS = { ground: "#16161a", empty: "#26262c", first: "#f4f4f6", other: "#a8a8b3" };

/** Where the places of a sheet are: as many columns as rows, or one more. All in pixels. */
export function sheetLayout(count: number) {
  const columns = Math.ceil(Math.sqrt(count));
  const rows = Math.ceil(count / columns);
  const room = Math.floor((SHEET_MOST_PX - GAP_PX * (columns + 1)) / columns);
  const cell = Math.min(LARGEST_CELL_PX, room);
  const text = Math.max(10, Math.round(cell / 20));
  const pitch = { x: cell + GAP_PX, y: cell + Math.ceil(LINES * text * LINE_HEIGHT) + 2 * GAP_PX };
  return {
    ...{ cell, text, width: columns * pitch.x + GAP_PX, height: rows * pitch.y + GAP_PX },
    placeOf: (i: number) => ({
      left: GAP_PX + (i % columns) * pitch.x,
      top: GAP_PX + Math.floor(i / columns) * pitch.y,
    }),
  };
}

/** Draws pictures in a grid, each within a square, with labels. @throws Error when a picture cannot be decoded */
export async function drawSheet(cells: readonly DrawnCell[]): Promise<Uint8Array> {
  const sharp = await openSharp();
  const layout = sheetLayout(cells.length);
  const { width, height } = layout;
  const layers: OverlayOptions[] = [{ input: Buffer.from(await drawLabels(cells, layout)), left: 0, top: 0 }];
  for (const [i, { picture }] of cells.entries())
    if (picture !== undefined) layers.push(await placed(picture, layout, i));
  const sheet = sharp({ create: { width, height, channels: 3, background: COLOURS.ground } });
  const bytes = await sheet
    .composite(layers)
    .timeout({ seconds: IMAGE_DECODE_SECONDS })
    .webp({ quality: 80, effort: 0 })
    .toBuffer();
  return new Uint8Array(bytes);
}

/** A picture as large as its place allows, in the middle of it. */
async function placed(
  picture: Uint8Array,
  { cell, placeOf }: ReturnType<typeof sheetLayout>,
  i: number,
): Promise<OverlayOptions> {
  const sharp = await openSharp();
  const shrunk = sharp(picture).resize({ width: cell, height: cell, fit: "inside" }).ensureAlpha().raw();
  const { data, info } = await shrunk.toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const { left, top } = placeOf(i);
  return {
    ...{ input: data, raw: { width, height, channels: 4 } },
    left: left + Math.floor((cell - width) / 2),
    top: top + Math.floor((cell - height) / 2),
  };
}

/** All labels as one drawing, and the places that stay empty. */
async function drawLabels(
  cells: readonly DrawnCell[],
  { cell, text, width, height, placeOf }: ReturnType<typeof sheetLayout>,
): Promise<string> {
  const face = await loadTypeface();
  const drawn = cells.flatMap(({ picture, label }, i) => {
    const { left, top } = placeOf(i);
    const empty = `<rect x="${left}" y="${top}" width="${cell}" height="${cell}" fill="${COLOURS.empty}"/>`;
    const lines = label.slice(0, LINES).map((line, at) => {
      const base = top + cell + GAP_PX / 2 + text * (1 + at * LINE_HEIGHT);
      const path = face.outline(fit(face, tidy(line), cell / text), left, base, text);
      return `<path d="${path}" fill="${at === 0 ? COLOURS.first : COLOURS.other}"/>`;
    });
    return [...(picture === undefined ? [empty] : []), ...lines];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${drawn.join("")}</svg>`;
}
