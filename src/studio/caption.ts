import { loadTypeface, type Typeface } from "./typeface.ts";

const SMALLEST_SIDE = 128;
const MARK = "svc sandbox";
const LINES = 3;

/**
 * The prompt and a mark as SVG elements in pixels of the frame: white outlines over a shade. Empty in a frame too small to read.
 *
 * @param note a second, smaller line that says how the result was made
 */
export async function drawCaption(text: {
  prompt: string;
  label: string;
  note?: string | undefined;
  width: number;
  height: number;
  /** `top` for results made from other media, which often have a caption at the bottom already. */
  place?: "bottom" | "top";
}): Promise<string> {
  const { width, height } = text;
  if (Math.min(width, height) < SMALLEST_SIDE) return "";
  const face = await loadTypeface();
  const size = Math.min(
    Math.max(11.5, 0.031 * Math.min(width, height) + 3),
    0.055 * Math.min(width, height) + 6,
  );
  const small = Math.max(9, size * 0.6);
  const margin = Math.max(8, size * 1.25);
  const room = Math.min(width - margin * 2, size * 34);
  const lines = wrap(face, tidy(text.prompt), room / size);
  const mark = fit(face, markText(text.label), (width - margin * 2) / small);
  const note = text.note === undefined ? [] : wrap(face, tidy(text.note), room / small).slice(0, 2);
  const lead = size * 1.32;
  const block = small * 2.1 + note.length * small * 1.4 + lines.length * lead + size * 0.4;
  const floor = text.place === "top" ? Math.min(height, block + margin * 1.6) : height;
  let y = floor - margin - small * 2.1 - note.length * small * 1.4 - (lines.length - 1) * lead;
  let words = "";
  for (const line of lines) {
    words += face.outline(line, margin, y, size);
    y += lead;
  }
  y += small * 1.75 - lead;
  let details = "";
  for (const line of note) {
    details += face.outline(line, margin, y, small);
    y += small * 1.4;
  }
  const dot = small * 0.27;
  const base = floor - margin * 0.92;
  details += face.outline(mark, margin + dot * 3.6, base, small);
  const depth = Math.min(height, block + margin * 2.6);
  const edge = text.place === "top" ? `y="0"` : `y="${(height - depth).toFixed(1)}"`;
  const [far, near] = text.place === "top" ? [1, 0] : [0, 1];
  return (
    `<defs><linearGradient id="scrim" x1="0" y1="${far}" x2="0" y2="${near}"><stop offset="0" stop-color="#000" stop-opacity="0"/>` +
    `<stop offset="0.45" stop-color="#000" stop-opacity="0.34"/><stop offset="1" stop-color="#000" stop-opacity="0.66"/></linearGradient></defs>` +
    `<rect x="0" ${edge} width="${width}" height="${depth.toFixed(1)}" fill="url(#scrim)"/>` +
    `<path d="${words}" fill="#fff"/><path d="${details}" fill="#fff" fill-opacity="0.72"/>` +
    `<circle cx="${(margin + dot).toFixed(1)}" cy="${(base - small * 0.34).toFixed(1)}" r="${dot.toFixed(1)}" fill="#fff" fill-opacity="0.72"/>`
  );
}

function markText(label: string): string {
  const name = tidy(label);
  if (name === "" || name.toLowerCase() === MARK) return MARK;
  return `${MARK}  ·  ${name}`;
}

/** One line of printable text: broken surrogates, controls and marks without a width are removed. */
/** A text of one line, without what cannot be seen. */
export function tidy(text: string): string {
  return text
    .slice(0, 2_000)
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, (run) => (/^[\p{Cf}]+$/u.test(run) ? "" : " "))
    .trim();
}

function wrap(face: Typeface, text: string, room: number): string[] {
  const lines: string[] = [];
  let line = "";
  const words = text.split(" ").filter((word) => word !== "");
  for (const word of words.flatMap((part) => chop(face, part, room))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && face.measure(longer) > room) {
      lines.push(line);
      if (lines.length > LINES) break;
      line = word;
    } else {
      line = longer;
    }
  }
  if (line !== "") lines.push(line);
  if (lines.length <= LINES) return lines;
  const kept = lines.slice(0, LINES);
  kept[LINES - 1] = fit(face, `${kept[LINES - 1] ?? ""} ${lines[LINES] ?? ""}`, room);
  return kept;
}

/** Breaks a word wider than a line, as any text without spaces is. */
function chop(face: Typeface, word: string, room: number): string[] {
  if (face.measure(word) <= room) return [word];
  const parts: string[] = [];
  let part = "";
  for (const character of word) {
    if (part !== "" && face.measure(part + character) > room) {
      parts.push(part);
      if (parts.length > LINES) return parts;
      part = "";
    }
    part += character;
  }
  return part === "" ? parts : [...parts, part];
}

/** As much of a text as fits. @param room in sizes of the face */
export function fit(face: Typeface, text: string, room: number): string {
  if (face.measure(text) <= room) return text;
  let kept = [...text].slice(0, 400);
  while (kept.length > 0 && face.measure(`${kept.join("")}…`) > room) kept = kept.slice(0, -1);
  return `${kept.join("").trimEnd()}…`;
}
