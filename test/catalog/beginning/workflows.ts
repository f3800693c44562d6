import type { Json } from "../../../src/domain/json.ts";

/** Workflows in the format of the API, cut down from the templates that come with ComfyUI. */
export type Graph = Record<
  string,
  { class_type: string; inputs: Record<string, Json>; _meta?: { title: string } }
>;

const node = (class_type: string, inputs: Record<string, Json>, title?: string): Graph[string] => ({
  class_type,
  inputs,
  ...(title !== undefined && { _meta: { title } }),
});
const text = (value: string, title?: string) =>
  node("CLIPTextEncode", { text: value, clip: ["4", 1] }, title);

/** The one that ComfyUI opens with. */
export const PLAIN: Graph = {
  "3": node("KSampler", {
    ...{ seed: 156680208700286, steps: 20, cfg: 8, sampler_name: "euler", scheduler: "normal", denoise: 1 },
    ...{ model: ["4", 0], positive: ["6", 0], negative: ["7", 0], latent_image: ["5", 0] },
  }),
  "4": node("CheckpointLoaderSimple", { ckpt_name: "v1-5.safetensors" }),
  "5": node("EmptyLatentImage", { width: 512, height: 768, batch_size: 1 }),
  "6": text("a glass bottle"),
  "7": text("text, watermark"),
  "8": node("VAEDecode", { samples: ["3", 0], vae: ["4", 2] }),
  "9": node("SaveImage", { filename_prefix: "ComfyUI", images: ["8", 0] }),
};

/** Guidance, sampler, noise and size in nodes of their own. */
export const FLUX: Graph = {
  "6": text("a cat", "Positive"),
  "8": node("VAEDecode", { samples: ["13", 0], vae: ["10", 0] }),
  "9": node("SaveImage", { filename_prefix: "ComfyUI", images: ["8", 0] }),
  "4": node("DualCLIPLoader", { clip_name1: "t5.safetensors", type: "flux" }),
  "10": node("VAELoader", { vae_name: "ae.safetensors" }),
  "12": node("UNETLoader", { unet_name: "flux1-dev.safetensors" }),
  "13": node("SamplerCustomAdvanced", {
    ...{
      noise: ["25", 0],
      guider: ["22", 0],
      sampler: ["16", 0],
      sigmas: ["17", 0],
      latent_image: ["27", 0],
    },
  }),
  "16": node("KSamplerSelect", { sampler_name: "euler" }),
  "17": node("BasicScheduler", { scheduler: "simple", steps: 20, denoise: 1, model: ["30", 0] }),
  "22": node("BasicGuider", { model: ["30", 0], conditioning: ["26", 0] }),
  "25": node("RandomNoise", { noise_seed: 7 }),
  "26": node("FluxGuidance", { guidance: 3.5, conditioning: ["6", 0] }),
  "27": node("EmptySD3LatentImage", { width: ["34", 0], height: ["35", 0], batch_size: 1 }),
  "30": node("ModelSamplingFlux", { max_shift: 1.15, width: ["34", 0], height: ["35", 0], model: ["12", 0] }),
  "34": node("PrimitiveInt", { value: 1024 }),
  "35": node("PrimitiveInt", { value: 1024 }),
};

/** A video from its first picture, in two passes. */
export const FILM: Graph = {
  "4": node("CLIPLoader", { clip_name: "umt5.safetensors", type: "wan" }),
  "6": text("waves", "CLIP Text Encode (Positive Prompt)"),
  "7": text("static"),
  "8": node("VAEDecode", { samples: ["58", 0], vae: ["39", 0] }),
  "39": node("VAELoader", { vae_name: "wan.safetensors" }),
  "50": node("WanImageToVideo", {
    ...{ width: 832, height: 480, length: 81, batch_size: 1 },
    ...{ positive: ["6", 0], negative: ["7", 0], vae: ["39", 0], start_image: ["52", 0] },
  }),
  "52": node("LoadImage", { image: "start.png" }),
  "57": node("KSamplerAdvanced", {
    ...{ add_noise: "enable", noise_seed: 1, steps: 20, cfg: 3.5 },
    ...{ positive: ["50", 0], negative: ["50", 1], latent_image: ["50", 2] },
  }),
  "58": node("KSamplerAdvanced", {
    ...{ add_noise: "disable", noise_seed: 0, steps: 20, cfg: 3.5 },
    ...{ positive: ["50", 0], negative: ["50", 1], latent_image: ["57", 0] },
  }),
  "60": node("CreateVideo", { fps: 16, images: ["8", 0] }),
  "61": node("SaveVideo", {
    filename_prefix: "video/ComfyUI",
    format: "auto",
    codec: "auto",
    video: ["60", 0],
  }),
};

/** A part of an image is drawn anew; the mask is the image's transparency. */
export const INPAINT: Graph = {
  ...PLAIN,
  "5": node("VAEEncodeForInpaint", { grow_mask_by: 6, pixels: ["20", 0], vae: ["4", 2], mask: ["20", 1] }),
  "20": node("LoadImage", { image: "yosemite.png" }, "Picture"),
};

/** Two prompts, two sizes, two savers, and a second picture. */
export const DOUBTFUL: Graph = {
  ...INPAINT,
  "16": text("a plastic bottle"),
  "13": node("KSampler", { ...PLAIN["3"]?.inputs, positive: ["16", 0], latent_image: ["15", 0] }),
  "15": node("EmptyLatentImage", { width: 1024, height: 1024, batch_size: 1 }),
  "18": node("VAEDecode", { samples: ["13", 0], vae: ["4", 2] }),
  "19": node("SaveImage", { filename_prefix: "large", images: ["18", 0] }),
  "21": node("LoadImage", { image: "style.png" }),
  "22": node("CLIPVisionEncode", { style_image: ["21", 0] }),
  "25": node("EmptyLatentImage", { width: 512, height: 512, batch_size: 1 }),
};
