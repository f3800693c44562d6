import type { Size } from "../domain/media/size.ts";

/** What style sheets and attributes may call. Everything that loads something is missing, but `url`, which has a rule of its own. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  [
    // Brackets alone.
    "",
    "matrix matrix3d translate translatex translatey translatez translate3d scale scalex scaley scalez scale3d rotate rotatex rotatey",
    "rotatez rotate3d skew skewx skewy perspective rgb rgba hsl hsla hwb lab lch oklab oklch color-mix color icc-color light-dark calc",
    "min max clamp abs sign round mod rem sin cos tan asin acos atan atan2 pow sqrt hypot log exp var cubic-bezier steps linear blur",
    "brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia circle ellipse inset polygon path rect xywh",
    "not is where has nth-child nth-last-child nth-of-type nth-last-of-type lang",
  ].flatMap((names) => names.split(" ")),
);
/** Rules of a style sheet that load nothing. */
const RULES: ReadonlySet<string> = new Set(["media", "supports", "keyframes", "-webkit-keyframes"]);
const LOCAL = /^url\(\s*(["']?)#[^\s"'()]+\1\s*\)/i;
/** Longer names are none of those above; longer references are none that a drawing has. */
const NAME_MAX = 40;
const REFERENCE_MAX = 400;

/**
 * Whether a style sheet or an attribute loads nothing: it calls only functions that are known to be harmless, and `url` only for parts
 * of the same drawing. Text with a backslash is refused, because escapes can spell any name. Without them, every name is what it looks like.
 */
export function isHarmless(text: string): boolean {
  if (text.includes("\\")) return false;
  for (let at = text.indexOf("("); at !== -1; at = text.indexOf("(", at + 1)) {
    const before = text.slice(Math.max(0, at - NAME_MAX), at);
    const name = /[-\w]*$/.exec(before)?.[0].toLowerCase() ?? "";
    if (name === "url") {
      if (!LOCAL.test(text.slice(at - name.length, at + REFERENCE_MAX))) return false;
    } else if (!FUNCTIONS.has(name)) return false;
  }
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const name = /^[-\w]*/.exec(text.slice(at + 1, at + 1 + NAME_MAX))?.[0].toLowerCase() ?? "";
    if (!RULES.has(name)) return false;
  }
  return true;
}

const PICTURE = /^data:image\/(?:png|jpe?g|webp|gif);base64,[A-Za-z0-9+/=\s]*$/;

/** Whether an address is of a part of the same drawing or, where `mayBePicture`, of a picture of pixels inside the address itself. */
export function isOwnReference(address: string, mayBePicture: boolean): boolean {
  return address.startsWith("#") || (mayBePicture && PICTURE.test(address));
}

/** Pixels of each unit (https://www.w3.org/TR/css-values-4/#absolute-lengths, 2026-11-23). Those that depend on a font take 16 px. */
const UNITS: Readonly<Record<string, number>> = {
  ...{ "": 1, px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 96 / 2.54, mm: 96 / 25.4, q: 96 / 101.6 },
  ...{ em: 16, rem: 16, ex: 8 },
};
/** What browsers take where a drawing does not say. */
const USUAL: Size = { width: 300, height: 150 };

/** The size of a drawing in pixels, as browsers show it: by its width and height, else by its viewBox; 0 for one that shows nothing. */
export function sizeOfDrawing({ width, height, viewBox }: Readonly<Record<string, string>>): Size {
  const [across, down] = [lengthOf(width), lengthOf(height)];
  const box = boxOf(viewBox);
  if (box === undefined) return { width: whole(across ?? USUAL.width), height: whole(down ?? USUAL.height) };
  if (across === undefined && down === undefined)
    return { width: whole(box.width), height: whole(box.height) };
  const ratio = box.width / box.height;
  return {
    width: whole(across ?? (down ?? 0) * ratio),
    height: whole(down ?? (across ?? 0) / ratio),
  };
}

/** Undefined without a length, and for a share of a page. */
function lengthOf(text = ""): number | undefined {
  const [, number = "", unit = ""] =
    /^\s*\+?([\d.]+(?:e[+-]?\d+)?)([a-z]*)\s*$/i.exec(text.slice(0, NAME_MAX)) ?? [];
  const pixels = Number.parseFloat(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isFinite(pixels) ? pixels : undefined;
}

function boxOf(viewBox = ""): Size | undefined {
  const numbers = viewBox
    .slice(0, 4 * NAME_MAX)
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [left, top, width = 0, height = 0] = numbers;
  const isBox =
    numbers.length === 4 && numbers.every(Number.isFinite) && left !== undefined && top !== undefined;
  return isBox && width > 0 && height > 0 ? { width, height } : undefined;
}

/** Begun pixels count, so that little is not nothing. */
const whole = (length: number): number => Math.ceil(Number(length.toFixed(3)));
