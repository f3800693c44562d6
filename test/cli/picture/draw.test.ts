import { describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { type Canvas, drawPictures } from "../../../cli/picture/draw.ts";
import { drawHalfBlocks, halfBlocks, nearest256 } from "../../../cli/picture/half-blocks.ts";
import { type Pixels, reduceColours, scalePicture } from "../../../cli/picture/pixels.ts";
import { readPicture } from "../../../cli/picture/poster.ts";
import { readResult } from "../../../cli/picture/result.ts";
import { SIXEL_COLOURS, sixelPicture } from "../../../cli/picture/sixel.ts";
import {
  largestDifference,
  readHalfBlocks,
  readIterm,
  readKitty,
  readSixels,
  splitByTmux,
} from "./readers.ts";

const DRAWING = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>');

const CANVAS: Canvas = {
  protocol: "half",
  depth: "true-colour",
  screen: { columns: 81, rows: 24 },
  cell: { width: 10, height: 20 },
};

/** Colours that differ from pixel to pixel; with a transparent corner where asked for. */
function picture(width: number, height: number, corner = 0): Pixels {
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const alpha = x < corner && y < corner ? 0 : 255;
      const colour = [(x * 255) / width, (y * 255) / height, (x * 7 + y * 13) % 256, alpha];
      rgba.set(colour, (y * width + x) * 4);
    }
  }
  return { width, height, rgba };
}

/** Few colours, which every protocol shows as they are. */
function flag(width: number, height: number): Pixels {
  const rgba = new Uint8Array(width * height * 4);
  const stripes = [
    [255, 0, 0, 255],
    [255, 255, 255, 255],
    [0, 0, 255, 255],
  ];
  for (let i = 0; i < width * height; i++)
    rgba.set(stripes[Math.floor(((i % width) * 3) / width)] ?? [], i * 4);
  return { width, height, rgba };
}

const draw = (pictures: readonly Pixels[], canvas: Partial<Canvas>) =>
  drawPictures(
    pictures.map((pixels, i) => ({ pixels, label: pictures.length > 1 ? `${i + 1} name` : undefined })),
    { ...CANVAS, ...canvas },
  );

describe("a terminal shows the pixels of", () => {
  test("half blocks in true colour, transparency included", async () => {
    const pixels = picture(31, 17, 5);
    const shown = await readHalfBlocks(halfBlocks(pixels, "true-colour").join("\n"));
    const even = { ...shown, height: 17, rgba: shown.rgba.subarray(0, 31 * 17 * 4) };
    expect(largestDifference(even, pixels)).toBe(0);
  });

  test("half blocks in 256 colours, as near as these come", async () => {
    const pixels = picture(40, 20);
    const shown = await readHalfBlocks(halfBlocks(pixels, "256").join("\n"));
    expect(largestDifference(shown, pixels)).toBeLessThanOrEqual(48);
  });

  test("kitty's protocol, in chunks", async () => {
    const pixels = picture(400, 300, 40);
    const [shown, ...more] = await readKitty(await draw([pixels], { protocol: "kitty" }));
    expect([shown?.columns, more]).toEqual([20, []]);
    expect(largestDifference(shown!.pixels, pixels)).toBe(0);
  });

  test("kitty's protocol behind tmux, which keeps a character for each cell", async () => {
    const pixels = picture(400, 120);
    const { handedOn, kept } = splitByTmux(await draw([pixels], { protocol: "kitty", isInTmux: true }));
    const [shown, ...more] = await readKitty(handedOn);
    expect(more).toEqual([]);
    expect(largestDifference(shown!.pixels, pixels)).toBe(0);
    const [, number] = /U=1,i=(\d+),c=20,r=3,/.exec(shown?.about ?? "") ?? [];
    const row = (mark: string) =>
      `\u001b[38;5;${number}m\u{10eeee}${mark}${"\u{10eeee}".repeat(19)}\u001b[39m\n`;
    expect(kept).toBe(row("\u0305") + row("\u030d") + row("\u030e"));
  });

  test("iTerm2's protocol", async () => {
    const pixels = picture(400, 300);
    const [shown, ...more] = await readIterm(await draw([pixels], { protocol: "iterm" }));
    expect([shown?.columns, more]).toEqual([20, []]);
    expect(largestDifference(shown!.pixels, pixels)).toBe(0);
  });

  test("sixels", () => {
    const pixels = flag(61, 29);
    expect(largestDifference(readSixels(sixelPicture(pixels)), pixels)).toBe(0);
  });

  test("sixels of many colours, within what a palette and percent can say", async () => {
    const pixels = await reduceColours(picture(120, 90, 20), SIXEL_COLOURS);
    expect(largestDifference(readSixels(sixelPicture(pixels)), pixels)).toBeLessThanOrEqual(2);
  });
});

test("the nearest of 256 colours is right at the ends of the cube and on the greys", () => {
  expect([
    nearest256(0, 0, 0),
    nearest256(255, 255, 255),
    nearest256(255, 0, 0),
    nearest256(118, 118, 118),
  ]).toEqual([16, 231, 196, 243]);
});

describe("size", () => {
  test("a picture keeps its proportions within the width and half the height", async () => {
    const shown = await readHalfBlocks(await draw([flag(2000, 1000)], {}));
    expect([shown.width, shown.height]).toEqual([48, 24]);
    const tall = await readHalfBlocks(await draw([flag(100, 1000)], {}));
    expect([tall.width, tall.height]).toEqual([2, 24]);
    const wide = await readHalfBlocks(await draw([flag(1000, 10)], {}));
    expect([wide.width, wide.height]).toEqual([80, 2]);
  });

  test("a picture is not enlarged", async () => {
    const shown = readSixels(await draw([flag(30, 20)], { protocol: "sixel" }));
    expect([shown.width, shown.height]).toEqual([30, 20]);
  });

  test("cells are as large as the terminal says", async () => {
    const canvas = { protocol: "sixel", cell: { width: 6, height: 13 } } as const;
    const shown = readSixels(await draw([flag(1000, 1000)], canvas));
    expect([shown.width, shown.height]).toEqual([156, 156]);
  });

  test.each([
    { columns: 1, rows: 1 },
    { columns: 0, rows: 0 },
    { columns: -5, rows: -5 },
    { columns: 1_000_000, rows: 1_000_000 },
    {},
  ])("a terminal of %p still shows a picture of a bearable size", async (screen) => {
    for (const pictures of [[flag(300, 200)], Array.from({ length: 10 }, () => flag(300, 200))]) {
      const text = await draw(pictures, { screen });
      expect(text).toMatch(/▀/);
      expect(text.split("\n").length).toBeLessThanOrEqual(62);
    }
  });
});

describe("several pictures", () => {
  test("are beside each other, with their numbers below", async () => {
    const text = await draw([flag(300, 300), flag(300, 300), flag(300, 300), flag(300, 300)], {});
    const lines = Bun.stripANSI(text).split("\n");
    expect(lines.findIndex((line) => line.includes("1 name"))).toBe(9);
    expect(lines[9]).toBe(
      ["1 name", "2 name", "3 name", "4 name"]
        .map((label) => label.padEnd(20))
        .join("")
        .trimEnd(),
    );
    expect(lines.slice(10)).toEqual([""]);
  });

  test("of different proportions do not overlap", async () => {
    const text = await draw([flag(300, 100), flag(100, 300)], { protocol: "sixel" });
    const shown = readSixels(text);
    const { width, height } = shown;
    expect(width).toBeLessThanOrEqual(800);
    expect(height).toBeLessThanOrEqual(18 * 20);
    const columnIsEmpty = (x: number) =>
      Array.from({ length: height }, (_, y) => shown.rgba[(y * width + x) * 4 + 3]).every(
        (alpha) => alpha === 0,
      );
    expect(columnIsEmpty(299)).toBe(false);
    expect(columnIsEmpty(301)).toBe(true);
  });

  test("each row of kitty's pictures is as wide as its boxes", async () => {
    const shown = await readKitty(
      await draw(
        Array.from({ length: 3 }, () => flag(900, 900)),
        { protocol: "kitty" },
      ),
    );
    expect(shown.every(({ pixels, columns }) => Math.abs(pixels.width / 20 - columns) <= 1)).toBe(true);
    expect(shown.every(({ columns }) => columns <= 80)).toBe(true);
  });

  test("labels cannot command the terminal", async () => {
    const pixels = flag(300, 300);
    const text = await drawPictures(
      [
        { pixels, label: "1 a\u001b[2J" },
        { pixels, label: "2 \u202eb" },
      ],
      CANVAS,
    );
    expect(text).not.toContain("\u001b[2J");
    expect(text).toContain("1 a\\u001b[2J");
    expect(text).not.toContain("\u202e");
  });
});

const red = sharp({ create: { width: 99, height: 99, channels: 3, background: "red" } });
const redPng = await red.png({ compressionLevel: 0 }).toBuffer();

describe("a file", () => {
  test("is drawn upright, in sRGB, and scaled for the cells", async () => {
    const file = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#336699" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const shown = await readHalfBlocks(
      (await drawHalfBlocks(file, { columns: 10, rows: 10 }, "true-colour")).join("\n"),
    );
    expect([shown.width, shown.height]).toEqual([10, 20]);
    expect(Math.abs(shown.rgba[2]! - 0x99)).toBeLessThanOrEqual(2);
  });

  test.each([
    [
      "grey",
      sharp({ create: { width: 9, height: 9, channels: 3, background: "#808080" } })
        .toColourspace("b-w")
        .png(),
    ],
    [
      "grey with transparency",
      sharp({ create: { width: 9, height: 9, channels: 4, background: "#808080" } })
        .toColourspace("b-w")
        .png(),
    ],
    [
      "16 bits a colour",
      sharp({ create: { width: 9, height: 9, channels: 3, background: "#808080" } })
        .toColourspace("rgb16")
        .png(),
    ],
    [
      "CMYK",
      sharp({ create: { width: 9, height: 9, channels: 3, background: "#808080" } })
        .toColourspace("cmyk")
        .jpeg(),
    ],
    [
      "a palette",
      sharp({ create: { width: 9, height: 9, channels: 3, background: "#808080" } }).png({ palette: true }),
    ],
  ])("of %s becomes the same RGBA", async (_name, image) => {
    const { width, height, rgba } = await scalePicture(await image.toBuffer(), (size) => size);
    expect([width, height, rgba.length]).toEqual([9, 9, 9 * 9 * 4]);
    const [red = 0, green = 0, blue = 0, alpha] = rgba.subarray(160, 164);
    expect(alpha).toBe(255);
    for (const colour of [red, green, blue]) expect(Math.abs(colour - 128)).toBeLessThanOrEqual(16);
  });

  test("of a GIF shows its first frame", async () => {
    const frames = { width: 8, height: 12, channels: 3, pageHeight: 6 } as const;
    const pixels = new Uint8Array(8 * 12 * 3).fill(255, 0, 8 * 6 * 3);
    const { width, height, rgba } = await scalePicture(
      await sharp(pixels, { raw: frames }).gif().toBuffer(),
      (size) => size,
    );
    expect([width, height, [...rgba.subarray(0, 4)]]).toEqual([8, 6, [255, 255, 255, 255]]);
  });

  test("of a drawing is named, and not drawn", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "svc-drawing-")), "result.svg");
    writeFileSync(path, DRAWING);
    expect(await readResult(path, { columns: 80, rows: 24 })).toEqual({ about: "a drawing (SVG)" });
    expect(await readPicture(DRAWING, { columns: 80, rows: 24 }, "256")).toEqual(["a drawing (SVG)"]);
  });

  test.each([
    ["text", new TextEncoder().encode("no picture")],
    ["nothing", new Uint8Array()],
    ["half a PNG", redPng.subarray(0, 9000)],
    ["a drawing", DRAWING],
    ["a drawing behind a comment", new TextEncoder().encode(`<!-- -->${new TextDecoder().decode(DRAWING)}`)],
    ["a packed drawing", Bun.gzipSync(DRAWING)],
  ])("of %s is refused", async (_name, file) => {
    await expect(scalePicture(file, (size) => size)).rejects.toThrow();
  });
});
