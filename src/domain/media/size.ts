/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

/** Reads `1024x768`; undefined for anything else. */
export function parseSize(text: string): Size | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) };
}

/** How far proportions may be from those asked for: clients round to multiples of 8 and 16 pixels. */
const RATIO_TOLERANCE = 0.03;

/** The one of these proportions (`16:9`) that a size has, rounding aside; undefined when it has none of them. */
export function closestRatio({ width, height }: Size, ratios: readonly string[]): string | undefined {
  const best = closest(ratios, (ratio) => {
    const [, across, down] = /^(\d+):(\d+)$/.exec(ratio) ?? [];
    return (width / height) * (Number(down) / Number(across));
  });
  return best !== undefined && best.distance <= RATIO_TOLERANCE ? best.name : undefined;
}

/** The one of these labels (`512`, `1K`, `2K`) whose square has about as many pixels as a size; undefined when there are none. */
export function closestResolution({ width, height }: Size, labels: readonly string[]): string | undefined {
  const side = Math.sqrt(width * height);
  return closest(labels, (label) => {
    const [, count, kilo] = /^(\d+)(K)?$/i.exec(label) ?? [];
    return side / (Number(count) * (kilo === undefined ? 1 : 1024));
  })?.name;
}

/** The name whose quotient is closest to 1; undefined when no name has a quotient. */
function closest(names: readonly string[], quotientOf: (name: string) => number) {
  const distances = names.map((name) => ({ name, distance: Math.abs(Math.log(quotientOf(name))) }));
  const known = distances.filter(({ distance }) => !Number.isNaN(distance));
  return known.sort((one, other) => one.distance - other.distance)[0];
}
