/* What a terminal does with the text it gets, in as far as pictures need it. Each reader refuses what it does not know. */
import { Terminal } from "@xterm/headless";
import sharp from "sharp";
import type { Pixels } from "../../../cli/picture/pixels.ts";

/** A picture as a terminal shows it. */
export interface Shown {
  readonly pixels: Pixels;
  /** Cells it was told to fill. */
  readonly columns: number;
  /** Where it goes, in the protocol's own words. */
  readonly about?: string;
}

/** Control characters as characters that a pattern may have. */
const visible = (text: string): string => text.replaceAll("\u001b", "␛").replaceAll("\u0007", "␇");

/** Reads pictures of kitty's protocol. @throws Error for anything else in the text but line breaks and words */
export async function readKitty(text: string): Promise<Shown[]> {
  const shown: Shown[] = [];
  let data = "";
  let columns = 0;
  let about = "";
  for (const [, keys = "", payload = ""] of visible(text).matchAll(/␛_G([^;]*);([^␛]*)␛\\/g)) {
    if (payload.length > 4096) throw new Error(`A chunk has ${payload.length} characters.`);
    const fields = Object.fromEntries(keys.split(",").map((each) => each.split("=")));
    if (fields.q !== "2") throw new Error("The terminal would answer.");
    if (data === "" && (fields.a !== "T" || fields.f !== "100")) throw new Error(`It is no picture: ${keys}`);
    if (data === "") [columns, about] = [Number(fields.c), keys];
    data += payload;
    if (fields.m === "1") continue;
    shown.push({ pixels: await decode(data), columns, about });
    data = "";
  }
  if (data !== "") throw new Error("The last picture does not end.");
  return shown;
}

/** What tmux hands on of a text, and what it keeps for itself. */
export function splitByTmux(text: string): { readonly handedOn: string; readonly kept: string } {
  const passage = /␛Ptmux;((?:[^␛]|␛␛)*)␛\\/g;
  const hidden = visible(text);
  const handedOn = [...hidden.matchAll(passage)]
    .map(([, inner = ""]) => inner.replaceAll("␛␛", "␛"))
    .join("");
  const kept = hidden.replaceAll(passage, "");
  return { handedOn: handedOn.replaceAll("␛", "\u001b"), kept: kept.replaceAll("␛", "\u001b") };
}

/** Reads pictures of iTerm2's protocol. */
export async function readIterm(text: string): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const [, about = "", payload = ""] of visible(text).matchAll(/␛\]1337;File=([^:]*):([^␇]*)␇/g)) {
    const fields = Object.fromEntries(about.split(";").map((each) => each.split("=")));
    if (fields.inline !== "1") throw new Error("It would be downloaded.");
    if (Number(fields.size) !== Buffer.from(payload, "base64").length) throw new Error("Its size is wrong.");
    shown.push({ pixels: await decode(payload), columns: Number(fields.width) });
  }
  return shown;
}

/** Reads one picture of sixels. */
export function readSixels(text: string): Pixels {
  const [, body] = /␛P0;1;0q([^␛]*)␛\\/.exec(visible(text)) ?? [];
  const [, w, h] = /^"1;1;(\d+);(\d+)/.exec(body ?? "") ?? [];
  const [width, height] = [Number(w), Number(h)];
  const rgba = new Uint8Array(width * height * 4);
  const registers = new Map<number, number[]>();
  let [left, top, register, count] = [0, 0, 0, 1];
  const tokens = (body ?? "")
    .replace(/^"[\d;]*/, "")
    .matchAll(/#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)|([?-~])|[$]|-/g);
  for (const [token, number, red, green, blue, run, sixel] of tokens) {
    if (red !== undefined)
      registers.set(
        Number(number),
        [red, green, blue].map((each) => (Number(each) * 255) / 100),
      );
    else if (number !== undefined) register = Number(number);
    else if (run !== undefined) count = Number(run);
    else if (token === "$") left = 0;
    else if (token === "-") [left, top] = [0, top + 6];
    else if (sixel !== undefined) {
      const bits = sixel.charCodeAt(0) - 63;
      const colour = registers.get(register);
      for (; count > 0; count--, left++) {
        for (let row = 0; row < 6; row++) {
          if ((bits & (1 << row)) === 0) continue;
          if (colour === undefined || left >= width || top + row >= height)
            throw new Error(`A pixel outside: ${left}, ${top + row}`);
          rgba.set([...colour, 255], ((top + row) * width + left) * 4);
        }
      }
      count = 1;
    }
  }
  return { width, height, rgba };
}

/** Puts text on a screen and reads its cells as two pixels each. */
export async function readHalfBlocks(text: string, columns = 200): Promise<Pixels> {
  const terminal = new Terminal({ cols: columns, rows: 100, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(text.replaceAll("\n", "\r\n"), resolve));
  const buffer = terminal.buffer.active;
  const lines = text.split("\n").filter((line) => /[▀▄]/.test(line)).length;
  const rgba: number[][] = [];
  let width = 0;
  for (let y = 0; y < lines; y++) {
    const rows: number[][] = [[], []];
    for (let x = 0; x < columns; x++) {
      const cell = buffer.getLine(y)?.getCell(x);
      const character = cell?.getChars() ?? "";
      if (cell === undefined || character === "") break;
      const ink = cell.isFgRGB() ? rgb(cell.getFgColor()) : palette(cell.getFgColor());
      const paper = cell.isBgDefault()
        ? [0, 0, 0, 0]
        : cell.isBgRGB()
          ? rgb(cell.getBgColor())
          : palette(cell.getBgColor());
      const none = [0, 0, 0, 0];
      const halves = character === "▀" ? [ink, paper] : character === "▄" ? [paper, ink] : [none, none];
      rows[0]?.push(...(halves[0] ?? none));
      rows[1]?.push(...(halves[1] ?? none));
      width = Math.max(width, x + 1);
    }
    rgba.push(...rows);
  }
  return { width, height: lines * 2, rgba: Uint8Array.from(rgba.flat()) };
}

const rgb = (value: number): number[] => [value >> 16, (value >> 8) & 255, value & 255, 255];

/** The colours 16 to 255 (https://en.wikipedia.org/wiki/ANSI_escape_code#8-bit). */
function palette(index: number): number[] {
  if (index >= 232) return [...Array(3).fill(8 + 10 * (index - 232)), 255];
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const cube = index - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6), 255];
}

async function decode(base64: string): Promise<Pixels> {
  const { data, info } = await sharp(Buffer.from(base64, "base64"))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgba: new Uint8Array(data) };
}

/** The largest difference of a colour between two pictures of the same size. Transparent pixels have no colour. */
export function largestDifference(a: Pixels, b: Pixels): number {
  if (a.width !== b.width || a.height !== b.height)
    throw new Error(`${a.width}×${a.height} is not ${b.width}×${b.height}.`);
  let largest = 0;
  for (let i = 0; i < a.rgba.length; i += 4) {
    const [first, second] = [a, b].map(({ rgba }) =>
      (rgba[i + 3] ?? 0) < 128 ? [0, 0, 0, 0] : [...rgba.subarray(i, i + 3), 255],
    );
    for (let c = 0; c < 4; c++) largest = Math.max(largest, Math.abs((first?.[c] ?? 0) - (second?.[c] ?? 0)));
  }
  return largest;
}
