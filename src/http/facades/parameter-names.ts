import type { Json } from "../../domain/json.ts";
import { alwaysOf } from "../../domain/model/always.ts";
import type { Model } from "../../domain/model/model.ts";
import { propertyOf } from "../../service/model-fields.ts";

/** Names that APIs have for the same parameter (fal's, Replicate's and makers' own schemas, checked 2026-12-01). A model has one of them. */
const SAME: readonly (readonly string[])[] = [
  "steps num_inference_steps inference_steps num_steps",
  "guidance guidance_scale cfg_scale",
  "strength prompt_strength denoising_strength",
  "negative_prompt",
  "enhance_prompt prompt_upsampling prompt_optimizer prompt_extend enable_prompt_expansion expand_prompt magic_prompt magic_prompt_option",
  "generate_audio enable_audio with_audio generate_audio_switch sound audio",
  "background_music bgm",
  "multi_shot multi_shots generate_multi_clip_switch shot_type",
  "style_type style",
].map((names) => names.split(" "));

const GROUPS = new Map(SAME.flatMap((names) => names.map((name) => [name, names] as const)));

/** Names of media in many APIs, which are parameters where they are switched on or off. */
const SWITCHES: readonly string[] = ["audio"];

/** What a model calls a parameter that it has by another name than the caller's, or that it always does; undefined where it has none. */
export function parameterNamed(model: Model, name: string, value: Json): string | undefined {
  if (SWITCHES.includes(name) && typeof value !== "boolean") return undefined;
  if (alwaysOf(model, name) !== undefined) return name;
  return GROUPS.get(name)?.find(
    (each) => each !== name && (propertyOf(model, each) !== undefined || alwaysOf(model, each) !== undefined),
  );
}
