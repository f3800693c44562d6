import { cutText } from "../../format/fit.ts";
import { printable } from "../../format/printable.ts";

/** Characters that join others into one picture, choose its form or its colour, or take no room: terminals count their cells differently. */
const UNCERTAIN =
  /[\u200b-\u200d\u2060-\u2064\ufeff]|[\u{1f3fb}-\u{1f3ff}]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}]/gu;
/** Two of these are a flag. */
const FLAG_LETTER = /[\u{1f1e6}-\u{1f1ff}]/gu;
const FLAG_A = 0x1f1e6;
const BREAKS = /[\t\r\n\u2028\u2029]+/g;
/** More marks than these on one letter would cover the lines above it. */
const MANY_MARKS = /(\p{M}{3})\p{M}+/gu;
/** A cell has at most this many characters here; what is far longer than its place is not looked at whole. */
const CHARACTERS_PER_CELL = 8;

/** Text from anywhere as one line whose cells every terminal counts alike. Control characters are shown as `\u001b`. */
export function oneLine(text: string): string {
  return certain(printable(text.replaceAll(BREAKS, " ")));
}

/** One line of exactly `width` cells: cut at its end, or filled up with spaces. */
export function fitCells(text: string, width: number, align: "left" | "right" = "left"): string {
  if (width <= 0) return "";
  const cut = cutText(oneLine(text.slice(0, width * CHARACTERS_PER_CELL)), width, "end");
  const space = " ".repeat(Math.max(0, width - Bun.stringWidth(cut)));
  return align === "left" ? cut + space : space + cut;
}

/** Text in lines of at most `width` cells, at most `maxLines` of them; the last one ends in `…` where there is more. */
export function wrapCells(text: string, width: number, maxLines: number): string[] {
  const longest = width * maxLines * CHARACTERS_PER_CELL;
  const lines: string[] = [];
  for (const paragraph of text.slice(0, longest).split(/\r?\n/)) {
    for (let rest = oneLine(paragraph).trimEnd(); ; ) {
      const [line, after] = takeLine(rest, width);
      if (lines.length === maxLines) return [...lines.slice(0, -1), ended(lines.at(-1) ?? "", width)];
      lines.push(line);
      if (after === "") break;
      rest = after;
    }
  }
  return text.length > longest ? [...lines.slice(0, -1), ended(lines.at(-1) ?? "", width)] : lines;
}

function certain(text: string): string {
  return text
    .replaceAll(UNCERTAIN, "")
    .replaceAll(FLAG_LETTER, (letter) => String.fromCharCode(65 + (letter.codePointAt(0) ?? FLAG_A) - FLAG_A))
    .replaceAll(MANY_MARKS, "$1");
}

/** As much as fits into one line, whole words where there are any, and the rest. */
function takeLine(text: string, width: number): [line: string, rest: string] {
  let used = 0;
  let end = 0;
  let lastSpace = -1;
  for (const character of text) {
    used += Bun.stringWidth(character);
    if (used > width && end > 0) {
      const at = character === " " || lastSpace <= 0 ? end : lastSpace;
      return [text.slice(0, at).trimEnd(), text.slice(at).trimStart()];
    }
    if (character === " ") lastSpace = end;
    end += character.length;
  }
  return [text, ""];
}

function ended(line: string, width: number): string {
  return cutText(`${line} …`, width, "end");
}
