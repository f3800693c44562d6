import type { Random } from "./random.ts";

/** sRGB, each channel 0 … 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Six colours from the darkest to the lightest, and one that stands out from them. */
export interface Palette {
  readonly name: string;
  readonly shades: readonly [Rgb, Rgb, Rgb, Rgb, Rgb, Rgb];
  readonly accent: Rgb;
}

const PALETTES = [
  palette("dusk", "1b1035 43206b 8a2f7b d9506f f79a6a fde3b0", "ffd36e"),
  palette("ocean", "04202c 07405a 0d6f86 2ba7a8 86d6c3 eaf7e6", "ff8f5e"),
  palette("forest", "0d1f18 17392b 2f5d41 6b8f54 b9bf73 f3ecc4", "e8663c"),
  palette("desert", "2a1518 5f2a26 a4482f d98045 efb976 fbeacb", "2a8c8a"),
  palette("arctic", "0a1830 18365f 3566a0 74a3d1 bcd8ee f6fafd", "f2647b"),
  palette("blossom", "2c1330 61275a a8487f e07fa0 f6b9bf fdeee7", "4bb3a6"),
  palette("neon", "0b0a14 1f1a33 3a2a5b 7a3e8e d8589a ffc2b4", "6fe3ff"),
  palette("paper", "23201d 4b433c 85776a bcab97 e0d3bf f7f1e5", "c8452f"),
  palette("lagoon", "07222b 0b4a4d 1b7f6b 63b66a c3dc70 fbf6c3", "ff5d73"),
  palette("gold", "0c1026 1c2454 3a3f8f 7a6bb5 d9b27c fbe9c6", "f0a33c"),
  palette("cinnabar", "1a0c10 4a1420 8f1f2c d2402f f28b50 fde0b5", "1f9fac"),
  palette("mint", "101223 23305a 2f6690 3fb0ac a5e6c8 fdfce0", "f78fb3"),
] as const satisfies readonly [Palette, ...Palette[]];

const MOODS: readonly { words: RegExp; names: readonly string[] }[] = [
  { words: /\b(sunset|sunrise|dusk|dawn|evening|golden)\b/i, names: ["dusk", "gold", "cinnabar"] },
  { words: /\b(ocean|sea|wave|water|beach|under ?water|lake|river)\b/i, names: ["ocean", "lagoon", "mint"] },
  { words: /\b(forest|tree|jungle|garden|leaf|leaves|green|moss)\b/i, names: ["forest", "lagoon"] },
  { words: /\b(desert|sand|dune|canyon|mars|autumn)\b/i, names: ["desert", "cinnabar"] },
  { words: /\b(snow|ice|winter|arctic|frost|cold|blue)\b/i, names: ["arctic", "mint"] },
  { words: /\b(flower|blossom|spring|pink|rose|love)\b/i, names: ["blossom", "dusk"] },
  { words: /\b(neon|cyber|city|night|space|galaxy|robot)\b/i, names: ["neon", "gold", "arctic"] },
  { words: /\b(paper|ink|sketch|vintage|coffee|wood)\b/i, names: ["paper", "desert"] },
  { words: /\b(fire|lava|volcano|dragon|red)\b/i, names: ["cinnabar", "desert"] },
];

/** Chooses by the words of the prompt when they suggest a mood, otherwise freely. Pure given `random`. */
export function choosePalette(prompt: string, random: Random): Palette {
  const free = random.pick(PALETTES);
  const mood = MOODS.find((entry) => entry.words.test(prompt));
  if (mood === undefined) return free;
  const name = mood.names[random.int(0, mood.names.length - 1)];
  return PALETTES.find((entry) => entry.name === name) ?? free;
}

/** A colour along the palette: 0 is the darkest shade, 1 the lightest. */
export function shade(palette: Palette, t: number): Rgb {
  const position = Math.min(1, Math.max(0, t)) * (palette.shades.length - 1);
  const low = Math.min(palette.shades.length - 2, Math.floor(position));
  const from = palette.shades[low] ?? palette.shades[0];
  const to = palette.shades[low + 1] ?? palette.shades[5];
  return blend(from, to, position - low);
}

/** A mix of two colours in OKLab, so that midpoints stay lively instead of grey. */
export function blend(from: Rgb, to: Rgb, t: number): Rgb {
  const a = toOklab(from);
  const b = toOklab(to);
  return fromOklab(a.map((value, i) => value + ((b[i] ?? value) - value) * t));
}

/** CSS hex notation. */
export function hex(colour: Rgb): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function palette(name: string, shades: string, accent: string): Palette {
  const [a, b, c, d, e, f] = shades.split(" ").map(parseHex);
  if (!a || !b || !c || !d || !e || !f) throw new Error(`Palette ${name} needs six shades.`);
  return { name, shades: [a, b, c, d, e, f], accent: parseHex(accent) };
}

function parseHex(text: string): Rgb {
  const value = Number.parseInt(text, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// Coefficients: https://bottosson.github.io/posts/oklab/ (checked 2026-11-21).
function toOklab([red, green, blue]: Rgb): number[] {
  const r = linear(red);
  const g = linear(green);
  const b = linear(blue);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness = 0, a = 0, b = 0]: number[]): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function gamma(value: number): number {
  const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, encoded)) * 255);
}
