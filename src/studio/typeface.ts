// Inter, SIL Open Font License 1.1, Copyright 2016 The Inter Project Authors (https://github.com/rsms/inter).
import cyrillic from "@fontsource/inter/files/inter-cyrillic-600-normal.woff" with { type: "file" };
import greek from "@fontsource/inter/files/inter-greek-600-normal.woff" with { type: "file" };
import latin from "@fontsource/inter/files/inter-latin-600-normal.woff" with { type: "file" };
import latinExtended from "@fontsource/inter/files/inter-latin-ext-600-normal.woff" with { type: "file" };
import vietnamese from "@fontsource/inter/files/inter-vietnamese-600-normal.woff" with { type: "file" };
import type { Font } from "opentype.js";

/** Text as outlines, so that no system font is needed. */
export interface Typeface {
  /** Width of `text` at size 1. */
  measure(text: string): number;
  /** SVG path data for `text` with its baseline at (x, y). */
  outline(text: string, x: number, y: number, size: number): string;
}

const FILES = [latin, latinExtended, cyrillic, greek, vietnamese];
const UNKNOWN_ADVANCE = 0.72;

let typeface: Promise<Typeface> | undefined;

/** Loads the embedded fonts, once. Draws an empty box for a user-perceived character that none has: any script keeps its length. */
export function loadTypeface(): Promise<Typeface> {
  typeface ??= readTypeface();
  return typeface;
}

async function readTypeface(): Promise<Typeface> {
  const { parse } = await import("opentype.js");
  const fonts = await Promise.all(FILES.map(async (path) => parse(await Bun.file(path).arrayBuffer())));
  const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  const walk = (text: string, visit: (character: string, font: Font | undefined) => void): void => {
    for (const { segment } of segmenter.segment(text)) {
      const characters = [...segment];
      for (const [i, character] of characters.entries()) {
        const font = fonts.find((candidate) => candidate.charToGlyphIndex(character) > 0);
        if (font !== undefined) visit(character, font);
        else if (i === 0) {
          visit(segment, undefined);
          break;
        }
      }
    }
  };
  const advance = (character: string, font: Font | undefined): number =>
    font === undefined ? UNKNOWN_ADVANCE : font.charToGlyph(character).advanceWidth / font.unitsPerEm;
  return {
    measure: (text) => {
      let width = 0;
      walk(text, (character, font) => {
        width += advance(character, font);
      });
      return width;
    },
    outline: (text, x, y, size) => {
      let path = "";
      let at = x;
      walk(text, (character, font) => {
        path +=
          font === undefined
            ? box(at, y, size)
            : font.charToGlyph(character).getPath(at, y, size).toPathData(1);
        at += advance(character, font) * size;
      });
      return path;
    },
  };
}

function box(x: number, y: number, size: number): string {
  const number = (value: number): string => value.toFixed(1);
  const ring = (inset: number, sweep: 0 | 1): string => {
    const left = x + size * (0.09 + inset);
    const top = y - size * (0.72 - inset);
    const [w, h] = [size * (0.54 - 2 * inset), size * (0.74 - 2 * inset)];
    // The inner ring runs the other way round, which leaves it empty under the non-zero rule.
    return sweep === 1
      ? `M${number(left)} ${number(top)}h${number(w)}v${number(h)}h${number(-w)}Z`
      : `M${number(left)} ${number(top)}v${number(h)}h${number(w)}v${number(-h)}Z`;
  };
  return ring(0, 1) + ring(0.075, 0);
}
