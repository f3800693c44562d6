import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Model, Route } from "../../../domain/model/model.ts";
import { choices } from "../../../service/model-fields.ts";
import { vocabularyOf } from "../foreign-words.ts";

/** That API's names of sizes (https://fal.ai/models/fal-ai/flux/dev/api, checked 2026-11-27). */
const SIZES: Readonly<
  Record<string, { readonly width: number; readonly height: number; readonly ratio: string }>
> = {
  square_hd: { width: 1024, height: 1024, ratio: "1:1" },
  square: { width: 512, height: 512, ratio: "1:1" },
  portrait_4_3: { width: 768, height: 1024, ratio: "3:4" },
  portrait_16_9: { width: 576, height: 1024, ratio: "9:16" },
  landscape_4_3: { width: 1024, height: 768, ratio: "4:3" },
  landscape_16_9: { width: 1024, height: 576, ratio: "16:9" },
};

/** A length as a number, where the model has a field of that name which takes numbers: that API writes `5s` and `5` as texts. */
export function withLength(model: Model, route: Route | undefined, fields: JsonObject): JsonObject {
  const { duration } = fields;
  const [, seconds] = typeof duration === "string" ? (/^(\d{1,4})s$/.exec(duration) ?? []) : [];
  const isWorded = route !== undefined && vocabularyOf(model, route).meanings.has("duration");
  return seconds === undefined || isWorded ? fields : { ...fields, duration: seconds };
}

/** The fields with a size that is named as what it stands for, so that any model that has such a size takes it. */
export function withSize(model: Model, route: Route | undefined, fields: JsonObject): JsonObject {
  const { image_size: name, ...others } = fields;
  // The proportions are left to the model: `auto_2K`.
  const [, side] = typeof name === "string" ? (/^auto_(\d{1,2}K)$/.exec(name) ?? []) : [];
  if (side !== undefined && choices(model, "resolution").includes(side))
    return { ...others, resolution: side };
  const known = typeof name === "string" && Object.hasOwn(SIZES, name) ? SIZES[name] : undefined;
  if (known === undefined) return fields;
  const meaning = route && vocabularyOf(model, route).meanings.get("image_size");
  if (meaning?.kind !== "parameter") return { ...fields, image_size: `${known.width}x${known.height}` };
  // Where the route's sizes are proportions of ours, those are what the name says.
  return { ...fields, image_size: readsItself(meaning.read, name ?? null) ? known.ratio : (name ?? null) };
}

const readsItself = (read: (value: Json) => Json, value: Json) => read(value) === value;
