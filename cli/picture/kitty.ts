import type { Cells } from "./fit.ts";
import { throughTmux } from "./tmux.ts";

/** The longest payload of one escape sequence (https://sw.kovidgoyal.net/kitty/graphics-protocol/#remote-client). */
const CHUNK = 4096;

/** A picture as kitty's graphics protocol shows it, `columns` cells wide and as high as its proportions say. */
export function kittyPicture(png: Uint8Array, columns: number): string {
  return transmit(png, `c=${columns}`).join("");
}

/**
 * A picture for kitty behind tmux. tmux does not know of pictures, so they are sent past it; what it knows is text: a character that stands
 * for each cell, whose colour names the picture (https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders).
 *
 * @param number of the picture, 1-255
 * @returns as many lines as the picture has rows
 */
export function kittyPictureInTmux(png: Uint8Array, { columns, rows }: Cells, number: number): string {
  const sent = transmit(png, `U=1,i=${number},c=${columns},r=${rows}`).map(throughTmux).join("");
  const lines = Array.from({ length: rows }, (_, row) => {
    // The cells that follow are those to its right.
    const cells = PLACEHOLDER + (ROW_MARKS[row] ?? "") + PLACEHOLDER.repeat(columns - 1);
    return `\u001b[38;5;${number}m${cells}\u001b[39m`;
  });
  return sent + lines.join("\n");
}

/** The terminal is told to answer nothing (q=2): an answer would reach the shell as typed text. */
function transmit(png: Uint8Array, where: string): string[] {
  const data = png.toBase64();
  const chunks: string[] = [];
  for (let at = 0; at < data.length; at += CHUNK) {
    const more = at + CHUNK < data.length ? 1 : 0;
    const keys = at === 0 ? `a=T,f=100,q=2,${where},m=${more}` : `q=2,m=${more}`;
    chunks.push(`\u001b_G${keys};${data.slice(at, at + CHUNK)}\u001b\\`);
  }
  return chunks;
}

const PLACEHOLDER = String.fromCodePoint(0x10eeee);

/** Say which row of a picture a cell is in: the first of kitty's list, as many as a preview has rows. */
const ROW_MARKS = [
  ...[0x0305, 0x030d, 0x030e, 0x0310, 0x0312, 0x033d, 0x033e, 0x033f, 0x0346, 0x034a, 0x034b, 0x034c],
  ...[0x0350, 0x0351, 0x0352, 0x0357, 0x035b, 0x0363, 0x0364, 0x0365, 0x0366, 0x0367, 0x0368, 0x0369],
  ...[0x036a, 0x036b, 0x036c, 0x036d, 0x036e, 0x036f, 0x0483, 0x0484, 0x0485, 0x0486, 0x0487, 0x0592],
  ...[0x0593, 0x0594, 0x0595, 0x0597, 0x0598, 0x0599, 0x059c, 0x059d, 0x059e, 0x059f, 0x05a0, 0x05a1],
  ...[0x05a8, 0x05a9, 0x05ab, 0x05ac, 0x05af, 0x05c4, 0x0610, 0x0611, 0x0612, 0x0613, 0x0614, 0x0615],
].map((code) => String.fromCodePoint(code));
