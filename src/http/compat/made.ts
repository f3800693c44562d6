import type { JsonObject } from "../../domain/json.ts";
import { type Asset, MEDIA_TYPES, type MediaType } from "../../domain/media/asset.ts";
import type { Made } from "../../domain/media/made.ts";

const FIELDS = ["size", "quality", "background", "output_format"] as const;

/** What an image is, in that API's words (docs/api.md 5.3). */
export type ImageFacts = { readonly [Field in (typeof FIELDS)[number]]: string };

/** What a call leaves to the model is absent. */
export type AskedFacts = Partial<ImageFacts>;

/** What a call asks for, or what its model was then asked for. */
export function askedFacts(fields: JsonObject): AskedFacts {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = fields[field];
      return typeof value === "string" && value !== "auto" ? [[field, value]] : [];
    }),
  );
}

/** What was made: as the file shows it, else as the upstream says it, else as it was asked for. */
export function factsOfImage(
  { width, height, type }: Pick<Asset, "width" | "height" | "type">,
  made: Made | undefined,
  sent: AskedFacts,
): ImageFacts {
  return {
    size: `${width}x${height}`,
    quality: made?.quality ?? sent.quality ?? "auto",
    background: type === "image/jpeg" ? "opaque" : (made?.background ?? sent.background ?? "auto"),
    output_format: formatOf(type),
  };
}

/** The fields that say something else of any image than was asked for. */
export function adjustedFields(asked: AskedFacts, images: readonly ImageFacts[]): string[] {
  return FIELDS.filter((field) => {
    const wanted = asked[field];
    return wanted !== undefined && images.some((image) => image[field] !== wanted);
  });
}

/** A media type in that API's words. */
export function formatOf(type: MediaType): string {
  return MEDIA_TYPES[type].extension.replace("jpg", "jpeg");
}
