import type { JsonObject } from "../../../src/domain/json.ts";

/*
 * Bodies as clients of AUTOMATIC1111's API send them, transcribed from their sources on 2026-11-27 and trimmed: prompts are ours, and
 * pictures are put in by the tests.
 */

/** Open WebUI, backend/open_webui/routers/images.py at 02530d50: with a count of images, steps and a negative prompt set. */
export const OPEN_WEBUI: JsonObject = {
  ...{ prompt: "A fox in the snow", batch_size: 1, width: 512, height: 512 },
  ...{ steps: 50, negative_prompt: "blurry" },
};

/**
 * SillyTavern, public/scripts/extensions/stable-diffusion/index.js at ba6f7b7a, by way of its server, which passes on the whole body: the
 * address and the credential of the engine too.
 */
export const SILLYTAVERN: JsonObject = {
  ...{ url: "http://127.0.0.1:8787", auth: "user:a-secret-of-the-caller" },
  ...{ prompt: "A fox in the snow", negative_prompt: "lowres, bad anatomy" },
  ...{ sampler_name: "DDIM", scheduler: "normal", steps: 20, cfg_scale: 7, width: 512, height: 512 },
  ...{ restore_faces: false, enable_hr: false, hr_upscaler: "Latent", hr_scale: 1.5 },
  ...{ denoising_strength: 0.7, hr_second_pass_steps: 0 },
  override_settings: { CLIP_stop_at_last_layers: 1 },
  override_settings_restore_afterwards: true,
  ...{
    clip_skip: 1,
    save_images: true,
    send_images: true,
    do_not_save_grid: false,
    do_not_save_samples: false,
  },
};

/** Cyanic SD for Krita, cyanic/widgets/*.py and cyanic/sdapi_v1.py at 5678aa1, from a prompt. */
export const KRITA_TXT2IMG: JsonObject = {
  ...{ width: 512, height: 512, prompt: "A fox in the snow", negative_prompt: "", styles: [] },
  ...{ sampler_name: "Euler", steps: 20, cfg_scale: 7, seed: -1, subseed: -1, subseed_strength: 0 },
  ...{ batch_size: 1, n_iter: 2, save_images: false },
  override_settings: {
    sd_model_checkpoint: "sandbox-image",
    sd_vae: "Automatic",
    img2img_color_correction: true,
  },
  override_settings_restore_afterwards: false,
};

/** The same plug-in, with a mask: `init_images` and `mask` are the test's. */
export const KRITA_INPAINT: JsonObject = {
  ...KRITA_TXT2IMG,
  ...{ n_iter: 1, denoising_strength: 0.6, resize_mode: 0 },
  ...{
    mask_blur: 4,
    inpainting_mask_invert: 0,
    inpainting_fill: 1,
    inpaint_full_res: 1,
    inpaint_full_res_padding: 30,
  },
};

/** stable-gimpfusion for GIMP, stable_gimpfusion.py at 0610221a, from a prompt. */
export const GIMP_TXT2IMG: JsonObject = {
  ...{ prompt: "A fox in the snow", negative_prompt: "", cfg_scale: 7.5, denoising_strength: 0.8, steps: 50 },
  ...{ width: 512, height: 384, sampler_index: "Euler a", batch_size: 1, seed: -1 },
};

/** The same plug-in, with the active layer; with a selection or a layer mask, it adds what `GIMP_INPAINT` has. */
export const GIMP_IMG2IMG: JsonObject = { ...GIMP_TXT2IMG, resize_mode: 0, width: 384, height: 384 };
export const GIMP_INPAINT: JsonObject = {
  ...GIMP_IMG2IMG,
  ...{ inpaint_full_res: true, inpaint_full_res_padding: 10, inpainting_mask_invert: 0 },
};
