import { closestRatio, parseSize, type Size } from "./size.ts";

/** Names of resolutions that contain no number of pixels, in lower case, with the shorter side that each stands for. */
const SHORTER_SIDES: Readonly<Record<string, number>> = {
  ...{ sd: 480, hd: 720, fhd: 1080, qhd: 1440, uhd: 2160 },
  ...{ "2k": 1440, "4k": 2160, "8k": 4320 },
};

/** The shorter side of a video in pixels, by the label of its resolution: `720p`, `hd`, `4K`. Undefined for any other text. */
export function shorterSideOf(label: string): number | undefined {
  const [, pixels] = /^(\d{2,5})p$/i.exec(label) ?? [];
  const name = label.toLowerCase();
  if (pixels !== undefined) return Number(pixels);
  return Object.hasOwn(SHORTER_SIDES, name) ? SHORTER_SIDES[name] : undefined;
}

/** The size of a video of these proportions and this resolution, in even numbers of pixels: `16:9` and `720p` make `1280x720`. */
export function videoSize(ratio: string, label: string): string | undefined {
  const [, across, down] = /^(\d{1,3}):(\d{1,3})$/.exec(ratio) ?? [];
  const shorter = shorterSideOf(label);
  if (shorter === undefined || !(Number(across) > 0 && Number(down) > 0)) return undefined;
  const longer = 2 * Math.round((shorter * proportion(Number(across), Number(down))) / 2);
  return Number(across) < Number(down) ? `${shorter}x${longer}` : `${longer}x${shorter}`;
}

/** Encoders round sides to whole blocks: 1792x1024, 854x480 and 1280x704 are called 16:9. */
const SAME_RATIO = 1.03;
/** 768p and 720p are the same to callers, and so are 1024 and 1080 pixels. */
const SAME_SIDE = 1.1;

/** The proportions from a list that a size has; undefined if it has none of them. */
export function ratioOfSize(size: Size, ratios: readonly string[]): string | undefined {
  const nearest = closestRatio(size, ratios);
  const [across = 0, down = 0] = (nearest ?? "").split(":").map(Number);
  const isSame = proportion(size.width * down, size.height * across) <= SAME_RATIO;
  return nearest !== undefined && isSame ? nearest : undefined;
}

/** The label of a resolution from a list that is about as large as a size; undefined if there is none. */
export function resolutionOfSize({ width, height }: Size, labels: readonly string[]): string | undefined {
  const wanted = Math.min(width, height);
  const known = labels.flatMap((label) => {
    const side = shorterSideOf(label);
    return side === undefined ? [] : [{ label, distance: proportion(side, wanted) }];
  });
  const [nearest] = known.sort((one, other) => one.distance - other.distance);
  return nearest !== undefined && nearest.distance <= SAME_SIDE ? nearest.label : undefined;
}

/** Whether a text is a size in pixels. */
export function isSize(text: string): boolean {
  return parseSize(text) !== undefined;
}

/** How many times as large the larger one is. */
function proportion(one: number, other: number): number {
  return Math.max(one, other) / Math.min(one, other);
}
