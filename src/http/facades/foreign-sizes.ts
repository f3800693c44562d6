import { invalid, mustBe } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { parseSize, type Size } from "../../domain/media/size.ts";

/** What is asked for, and the field that does. */
export type Wish = { readonly param: string; readonly value: Json };

/** What a request wants of sizes and lengths, which are fitted to what the model has. */
export type Wishes = Map<"size" | "length" | "ratio" | "width" | "height", Wish>;

/** Sizes are whole blocks of pixels, so that few have proportions exactly. */
const SAME_PROPORTIONS = 0.03;

export function hasProportions(size: Size | undefined, { width, height }: Size): boolean {
  if (size === undefined || width === 0 || height === 0) return false;
  return Math.abs((size.width * height) / (size.height * width) - 1) <= SAME_PROPORTIONS;
}

/** What a side of a picture must be. */
const SIDE = { integer: { least: 1, most: 16_384 } } as const;

/** A size of width and height, which are given together. @throws AppError naming one that is missing or no number */
export function sizeOfSides(wishes: Wishes): Wish | undefined {
  const [width, height] = [wishes.get("width"), wishes.get("height")];
  const one = width ?? height;
  if (one === undefined) return undefined;
  if (width === undefined || height === undefined) {
    const [known, other] =
      width === undefined ? (["height", "width"] as const) : (["width", "height"] as const);
    throw invalid({
      kind: "only_with",
      field: one.param,
      needed: one.param.slice(0, one.param.length - known.length) + other,
    });
  }
  for (const { param, value } of [width, height]) {
    if (!Number.isInteger(value) || Number(value) < 1) throw mustBe(param, SIDE, { json: value });
  }
  return { param: width.param, value: `${width.value}x${height.value}` };
}

export const isSizeLike = (value: Json): boolean =>
  isJsonObject(value) || (typeof value === "string" && parseSize(value) !== undefined);

/** `1024x768`, also of `{width, height}` and `1024*768`. @throws AppError naming a side that is no number */
export function sizeText({ param, value }: Wish): Json {
  if (!isJsonObject(value))
    return typeof value === "string" ? value.replace(/^(\d+)[*×:](\d+)$/, "$1x$2") : value;
  const { width, height } = value;
  for (const [name, side = null] of Object.entries({ width, height })) {
    // APIs write numbers as text, too.
    const isSide = (typeof side === "number" || typeof side === "string") && Number.isInteger(Number(side));
    if (!isSide) throw mustBe(`${param}.${name}`, SIDE, { json: side });
  }
  return `${width}x${height}`;
}

/** `8s` is eight seconds. */
export function secondsOf(value: Json): Json {
  return typeof value === "string" ? value.replace(/s$/, "") : value;
}
