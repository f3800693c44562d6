import type { Json } from "../domain/json.ts";
import { STILL_TYPES, type StillType } from "../domain/media/asset.ts";
import type { Model } from "../domain/model/model.ts";
import { choices, propertyOf } from "./model-fields.ts";

/** How a picture comes in the file format that its caller asks for. */
export type FittedFormat =
  /** The model is told, by its own field. */
  | { readonly kind: "told"; readonly value: Json }
  /** The model cannot be told: what it makes is stored as this. */
  | { readonly kind: "stored"; readonly type: StillType };

/**
 * Meets a wish for a file format. A model of pictures that has no such choice makes what it makes, and this service makes another file of
 * it; not of drawings, whose models say so among their choices.
 *
 * @param format `png`, `jpeg`, `jpg`, `webp`, or what the model's own field may have
 * @returns undefined if nothing here makes files of that format
 */
export function fitFormat(model: Model, format: Json): FittedFormat | undefined {
  const known = choices(model, "output_format");
  const isListed = typeof format === "string" && known.includes(format);
  const type = stillTypeOf(format);
  const own = known.find((choice) => stillTypeOf(choice) === type);
  if (!isListed && type !== undefined && own !== undefined) return { kind: "told", value: own };
  const isOfPictures = known.length === 0 || known.some((choice) => stillTypeOf(choice) !== undefined);
  if (!isListed && type !== undefined && model.kind === "image" && isOfPictures)
    return { kind: "stored", type };
  return propertyOf(model, "output_format") === undefined ? undefined : { kind: "told", value: format };
}

function stillTypeOf(format: Json): StillType | undefined {
  if (typeof format !== "string") return undefined;
  return STILL_TYPES.find((type) => type === `image/${format === "jpg" ? "jpeg" : format}`);
}
