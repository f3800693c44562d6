import type { JsonObject } from "../../domain/json.ts";
import { type Asset, MEDIA_TYPES, type MediaType } from "../../domain/media/asset.ts";
import type { Made } from "../../domain/media/made.ts";

const FIELDS = ["size", "quality", "background", "output_format"] as const;

/** What an image is, in that API's words (docs/api.md 5.3). */
export type ImageFacts = { readonly [Field in (typeof FIELDS)[number]]: string };

/** Members that a call leaves to the model are absent. */
export type AskedFacts = Partial<ImageFacts>;

/** What a call requests, or what its model was then given. */
export function askedFacts(fields: JsonObject): AskedFacts {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = fields[field];
      return typeof value === "string" && value !== "auto" ? [[field, value]] : [];
    }),
  );
}

/** The properties of the image: from the file, else from the upstream's report, else from the request. */
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

/** The fields in which an image differs from the request. */
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
