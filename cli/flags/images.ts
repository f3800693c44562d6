import type { Json, JsonObject } from "../../src/domain/json.ts";
import { isList, type ModelView } from "../client/model.ts";
import { usage } from "../failure.ts";
import { type ReadFile, sniffMediaType } from "./inputs.ts";

/** Reads image files as data URIs; web addresses stay as they are. @throws Failure (exit 2) for other files */
export async function readImages(paths: readonly string[], read: ReadFile): Promise<string[]> {
  return await Promise.all(
    paths.map(async (path) => {
      if (/^https?:\/\//.test(path)) return path;
      const bytes = await read(path);
      const type = sniffMediaType(bytes);
      if (type?.startsWith("image/") === true) return `data:${type};base64,${bytes.toBase64()}`;
      throw usage(`${path} is no image svc knows (PNG, JPEG, WebP).`);
    }),
  );
}

/** The fields by which a model takes images to edit, in their order, and a mask. @throws Failure (exit 2) when it does not */
export function placeImages(
  model: ModelView,
  images: readonly string[],
  mask: string | undefined,
): JsonObject {
  const fields: Record<string, Json> = {};
  const takers = model.inputs.filter(({ role, media }) => role === "image" && media === "image");
  const single = takers.find(({ field }) => !isList(model, field));
  const list = takers.find(({ field }) => isList(model, field));
  const [first] = images;
  if (single !== undefined && first !== undefined && images.length === 1) fields[single.field] = first;
  else if (list !== undefined) fields[list.field] = images;
  else
    throw usage(
      `${model.id} takes ${single === undefined ? "no image" : `one image, and there are ${images.length}`}.`,
    );
  if (mask === undefined) return fields;
  const masked = model.inputs.find(({ role }) => role === "mask");
  if (masked === undefined) throw usage(`${model.id} takes no --mask.`);
  return { ...fields, [masked.field]: mask };
}
