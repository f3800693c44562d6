import type { Json } from "../../../domain/json.ts";

/* How the fields of that API's requests are handled. */

/** What models call fields of that API; the first that a model has is taken. */
export const MODEL_NAMES: Readonly<Record<string, readonly string[]>> = {
  negative_prompt: ["negative_prompt"],
  steps: ["steps", "num_inference_steps"],
  distilled_cfg_scale: ["distilled_cfg_scale", "guidance"],
  cfg_scale: ["cfg_scale", "guidance_scale", "guidance"],
  denoising_strength: ["denoising_strength", "strength"],
  sampler_name: ["sampler_name", "sampler"],
  scheduler: ["scheduler"],
  clip_skip: ["clip_skip"],
};

/** Fields that say how to answer, are translated one by one, or change no picture. The others a model takes by their own names. */
export const NOT_FOR_MODELS = new Set([
  ...Object.keys(MODEL_NAMES),
  ...["prompt", "width", "height", "batch_size", "n_iter", "seed", "init_images", "mask", "sampler_index"],
  ...["send_images", "save_images", "do_not_save_samples", "do_not_save_grid", "include_init_images"],
  ...[
    "override_settings",
    "override_settings_restore_afterwards",
    "force_task_id",
    "comments",
    "url",
    "auth",
  ],
  ...["mask_blur", "mask_blur_x", "mask_blur_y", "mask_round", "inpainting_mask_invert", "model"],
  ...["disable_extra_networks", "script_args", "subseed", "n", "size", "stream", "partial_images"],
]);

/** Fields that change how a picture is made and not what of, where a model leaves them out. Those that are off are not told of. */
export const FINE = [
  ...[
    "styles",
    "eta",
    "s_churn",
    "s_tmax",
    "s_tmin",
    "s_noise",
    "s_min_uncond",
    "resize_mode",
    "image_cfg_scale",
  ],
  ...["inpainting_fill", "inpaint_full_res", "inpaint_full_res_padding", "initial_noise_multiplier"],
];

/** Fields that ask for something else than a model draws by itself, and whether a value asks for it. */
export const DECISIVE: Readonly<Record<string, (value: Json) => boolean>> = {
  enable_hr: (value) => value === true,
  restore_faces: (value) => value === true,
  tiling: (value) => value === true,
  script_name: isNamed,
  refiner_checkpoint: isNamed,
  firstpass_image: isNamed,
  latent_mask: isNamed,
  infotext: isNamed,
  controlnet_units: (value) => Array.isArray(value) && value.length > 0,
  subseed_strength: (value) => value !== 0,
  seed_resize_from_w: (value) => Number(value) > 0,
  seed_resize_from_h: (value) => Number(value) > 0,
};

/** Off, in one of the forms that clients send for it. */
function isNamed(value: Json): boolean {
  return typeof value === "string" && value !== "" && value.toLowerCase() !== "none";
}
