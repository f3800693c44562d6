import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import sharp from "sharp";
import { sheetLayout } from "../../src/assets/thumbnails/sheet.ts";
import { openThumbnails } from "../../src/assets/thumbnails/thumbnails.ts";
import { SHEET_MOST_CELLS, SHEET_MOST_PX } from "../../src/domain/media/thumbnail.ts";
import type { SheetCell } from "../../src/domain/ports/thumbnails.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { makeFsStore } from "../helpers/media-store.ts";

let subject: Awaited<ReturnType<typeof makeFsStore>>;
let thumbnails: ReturnType<typeof openThumbnails>;

beforeEach(async () => {
  subject = await makeFsStore();
  thumbnails = openThumbnails({
    ...{ directory: subject.directory, assets: subject.store, clock: createSystemClock() },
  });
});
afterEach(async () => {
  await thumbnails.stop();
  await subject.remove();
});

async function cell(background: string, size: [number, number], ...label: string[]): Promise<SheetCell> {
  const [width, height] = size;
  const bytes = await sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
  const options = { accept: ["image"], maxBytes: 1_000_000, sanitize: false, isOutput: true } as const;
  return { file: await subject.store.put(bytes, options), label };
}

async function drawn(cells: readonly SheetCell[]) {
  const sheet = await thumbnails.sheet(cells);
  if (sheet.kind !== "picture") throw new Error(`Got ${JSON.stringify(sheet)}.`);
  const { data, info } = await sharp(await sheet.content.bytes())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (left: number, top: number) => [...data.subarray((top * info.width + left) * 3).subarray(0, 3)];
  return { info, at };
}
const near = (got: readonly number[], wanted: readonly number[]) =>
  got.every((value, i) => Math.abs(value - (wanted[i] ?? 0)) < 24);

test("every picture is in the middle of its place, with its label below, whatever its shape", async () => {
  const cells = [
    await cell("#f00", [400, 200], "1. red"),
    await cell("#0f0", [40, 80], "2. green"),
    await cell("#00f", [64, 64]),
  ];
  const { info, at } = await drawn(cells);
  const { width, height, cell: side, placeOf } = sheetLayout(3);
  expect([info.width, info.height]).toEqual([width, height]);
  const middles = [0, 1, 2].map(placeOf).map(({ left, top }) => at(left + side / 2, top + side / 2));
  expect(near(middles[0] ?? [], [255, 0, 0])).toBe(true);
  expect(near(middles[1] ?? [], [0, 255, 0])).toBe(true);
  expect(near(middles[2] ?? [], [0, 0, 255])).toBe(true);
  // The first is twice as wide as high, so that its place is empty above it.
  const ground = [0x16, 0x16, 0x1a];
  expect(near(at(placeOf(0).left + side / 2, placeOf(0).top + 4), ground)).toBe(true);
  const isWritten = (i: number) => {
    const { left, top } = placeOf(i);
    const band = Array.from({ length: 24 * 100 }, (_, p) =>
      at(left + (p % 100), top + side + Math.floor(p / 100)),
    );
    return band.some(([red = 0]) => red > 150);
  };
  expect([0, 1, 2].map(isWritten)).toEqual([true, true, false]);
});

test("the place of a file that is gone stays empty, and a sheet is never left behind", async () => {
  const cells = [await cell("#f00", [64, 64], "red"), await cell("#0f0", [64, 64], "green")];
  await drawn(cells);
  const [, green] = cells;
  await subject.store.removeUnheld(green?.file.sha256 ?? "");
  const { at } = await drawn([...cells].reverse());
  const { cell: side, placeOf } = sheetLayout(2);
  expect(near(at(placeOf(0).left + side / 2, placeOf(0).top + side / 2), [0x26, 0x26, 0x2c])).toBe(true);
  const files = await readdir(join(subject.directory, "thumbnails"), { recursive: true });
  expect(files.filter((name) => name.endsWith(".webp")).map((name) => name.split("/").at(-1))).toEqual([
    "320.webp",
  ]);
});

test("a sheet is made once for those who ask at the same time and after", async () => {
  const cells = [await cell("#f00", [64, 64], "red")];
  const [one, two] = await Promise.all([thumbnails.sheet(cells), thumbnails.sheet(cells)]);
  expect(two).toBe(one);
  expect(await thumbnails.sheet(cells)).toBe(one);
  expect(await thumbnails.sheet([{ ...cells[0]!, label: ["other"] }])).not.toBe(one);
});

test("a label is text, and never markup", async () => {
  const odd = await cell("#f00", [64, 64], '<script>"&amp;]]>', "\u202eعربي\u0000 漢字 👩‍👩‍👧 ".repeat(40));
  expect((await drawn([odd])).info.width).toBe(sheetLayout(1).width);
});

test("no number of results makes a sheet too large, and no two places meet", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: SHEET_MOST_CELLS }), (count) => {
      const { width, height, cell: side, text, placeOf } = sheetLayout(count);
      expect(width).toBeLessThanOrEqual(SHEET_MOST_PX);
      expect(height).toBeLessThanOrEqual(SHEET_MOST_PX * 1.3);
      const last = placeOf(count - 1);
      expect(last.left + side).toBeLessThanOrEqual(width);
      expect(last.top + side + 2 * text).toBeLessThanOrEqual(height);
      if (count > 1) expect(placeOf(1).left).toBeGreaterThanOrEqual(placeOf(0).left + side);
    }),
  );
});

test("a sheet of as many as there may be is drawn, with places of its own", async () => {
  const one = await cell("#0f0", [64, 64], "green");
  const cells = Array.from({ length: SHEET_MOST_CELLS }, (_, i) => ({ ...one, label: [`${i}`] }));
  const { info, at } = await drawn(cells);
  const { width, cell: side, placeOf } = sheetLayout(cells.length);
  expect(info.width).toBe(width);
  const { left, top } = placeOf(cells.length - 1);
  expect(near(at(left + Math.floor(side / 2), top + Math.floor(side / 2)), [0, 255, 0])).toBe(true);
});
