import type { Json, JsonObject } from "../../../domain/json.ts";
import { isJsonObject, readScalar } from "../../../domain/json.ts";
import type { Properties, Schema } from "../../wire/schema.ts";

/* The fields of that API's requests (modules/api/models.py of AUTOMATIC1111 and Forge, checked 2026-11-27). */

function named(
  type: string | readonly string[],
  names: readonly string[],
  more: JsonObject = {},
): readonly (readonly [string, Schema])[] {
  return names.map((name) => [name, { type: [type, "null"].flat(), ...more }]);
}

const BOTH: readonly (readonly [string, Schema])[] = [
  ...named("string", [
    ...["prompt", "negative_prompt", "sampler_name", "sampler_index", "scheduler", "script_name"],
    ...["refiner_checkpoint", "firstpass_image", "force_task_id", "infotext"],
    ...[
      "hr_upscaler",
      "hr_checkpoint_name",
      "hr_sampler_name",
      "hr_scheduler",
      "hr_prompt",
      "hr_negative_prompt",
    ],
  ]),
  ...named("integer", ["seed", "subseed", "seed_resize_from_h", "seed_resize_from_w", "clip_skip"]),
  ...named("integer", ["width", "height", "batch_size", "n_iter", "steps"], { minimum: 1 }),
  ...named("integer", [
    "firstphase_width",
    "firstphase_height",
    "hr_second_pass_steps",
    "hr_resize_x",
    "hr_resize_y",
  ]),
  ...named("number", [
    ...[
      "subseed_strength",
      "cfg_scale",
      "distilled_cfg_scale",
      "denoising_strength",
      "hr_scale",
      "refiner_switch_at",
    ],
    ...["eta", "s_churn", "s_tmax", "s_tmin", "s_noise", "s_min_uncond"],
  ]),
  ...named("boolean", [
    ...[
      "restore_faces",
      "tiling",
      "do_not_save_samples",
      "do_not_save_grid",
      "enable_hr",
      "send_images",
      "save_images",
    ],
    ...["override_settings_restore_afterwards", "disable_extra_networks"],
  ]),
  ...named("object", ["override_settings", "alwayson_scripts", "comments"]),
  ...named("array", ["styles", "script_args", "controlnet_units"]),
];

const OF_IMAGES: readonly (readonly [string, Schema])[] = [
  ...named("array", ["init_images"], { items: { type: "string" } }),
  ...named("string", ["mask", "latent_mask"]),
  ...named(["integer", "number"], ["mask_blur", "mask_blur_x", "mask_blur_y"], { minimum: 0, maximum: 100 }),
  ...named("integer", ["resize_mode", "inpainting_fill", "inpaint_full_res_padding"]),
  ...named(["boolean", "integer"], ["inpaint_full_res", "inpainting_mask_invert"]),
  ...named("number", ["image_cfg_scale", "initial_noise_multiplier"]),
  ...named("boolean", ["mask_round", "include_init_images"]),
];

const openObject = (title: string, properties: Properties, more: JsonObject): Schema => ({
  title,
  type: "object",
  description: "Fields that are `null` count as absent, others that this service does not know are ignored.",
  properties,
  additionalProperties: true,
  ...more,
});

export const TXT2IMG = openObject("Automatic1111AskedTxt2Img", Object.fromEntries(BOTH), {
  examples: [{ prompt: "A lighthouse at dusk", width: 512, height: 512, steps: 20 }],
});

export const IMG2IMG = openObject("Automatic1111AskedImg2Img", Object.fromEntries([...BOTH, ...OF_IMAGES]), {
  examples: [{ prompt: "In the style of a woodcut", init_images: ["iVBORw0KGgo…"], denoising_strength: 0.6 }],
});

/** Fields that hold pictures. They are never repeated to the caller. */
const PICTURES = new Set(["init_images", "mask", "firstpass_image", "latent_mask"]);

/**
 * A body whose texts are read as numbers and booleans where the API does so, and without fields that are `null`.
 * @param schema one of those here
 */
export function lenient(schema: Schema, body: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const entries = Object.entries(body).flatMap(([name, value]): [string, Json][] => {
    if (value === undefined || value === null) return [];
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const types = isJsonObject(property) && Array.isArray(property.type) ? property.type : [];
    const type = types.includes("string") ? undefined : types[0];
    return [[name, typeof value === "string" ? readScalar(type, value) : value]];
  });
  return Object.fromEntries(entries);
}

/** What is repeated to the caller of its request: the fields that the API has, without pictures. Some clients send their credential in others. */
export function repeated(schema: Schema, body: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.keys(properties).map((name) => [name, PICTURES.has(name) ? null : (body[name] ?? null)]),
  );
}
