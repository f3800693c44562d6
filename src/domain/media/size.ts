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

/** The proportions (`16:9`) from a list that are nearest to those of a size; undefined if there are none. */
export function closestRatio({ width, height }: Size, ratios: readonly string[]): string | undefined {
  return closest(ratios, (ratio) => {
    const [, across, down] = /^(\d+):(\d+)$/.exec(ratio) ?? [];
    return [(width / height) * (Number(down) / Number(across))];
  });
}

/** The size (`1536x1024`) from a list that is nearest in proportions, then in area; undefined if there are none. */
export function closestSize({ width, height }: Size, sizes: readonly string[]): string | undefined {
  return closest(sizes, (text) => {
    const size = parseSize(text) ?? { width: Number.NaN, height: Number.NaN };
    const ratio = (width * size.height) / (height * size.width);
    return [ratio, (width * height) / (size.width * size.height)];
  });
}

/** The label (`512`, `1K`, `2K`) from a list whose square has about as many pixels as a size; undefined if there are none. */
export function closestResolution({ width, height }: Size, labels: readonly string[]): string | undefined {
  const side = Math.sqrt(width * height);
  return closest(labels, (label) => {
    const [, count, kilo] = /^(\d+)(K)?$/i.exec(label) ?? [];
    return [side / (Number(count) * (kilo === undefined ? 1 : 1024))];
  });
}

/** The name whose quotients are closest to 1, the first one first; undefined when no name has quotients. */
function closest(
  names: readonly string[],
  quotientsOf: (name: string) => readonly [number, number?],
): string | undefined {
  const distances = names.map((name) => {
    const [first, second = 1] = quotientsOf(name).map((quotient = 1) => Math.abs(Math.log(quotient)));
    return { name, first: first ?? Number.NaN, second };
  });
  const known = distances.filter(({ first }) => !Number.isNaN(first));
  return known.sort((one, other) => one.first - other.first || one.second - other.second)[0]?.name;
}
