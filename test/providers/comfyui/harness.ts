import { toRoute } from "../../../src/catalog/manifest.ts";
import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import type { TaskKind } from "../../../src/domain/task/request.ts";
import { type ComfyDeps, createComfyProvider } from "../../../src/providers/comfyui/adapter.ts";

export function createProvider(to: { baseUrl: string; clock: Clock } & Partial<ComfyDeps>): ProviderAdapter {
  return createComfyProvider({ concurrency: 2, isCloud: false, restarts: "safe", ...to });
}

/** Text to image, as ComfyUI exports its first workflow for its API. */
export const NODES = {
  "3": {
    class_type: "KSampler",
    inputs: {
      ...{ seed: 1, steps: 20, cfg: 8, sampler_name: "euler", scheduler: "normal", denoise: 1 },
      ...{ model: ["4", 0], positive: ["6", 0], negative: ["7", 0], latent_image: ["5", 0] },
    },
  },
  "4": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "sdxl.safetensors" } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512, height: 512, batch_size: 1 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a house", clip: ["4", 1] } },
  "7": { class_type: "CLIPTextEncode", inputs: { text: "blurry", clip: ["4", 1] } },
  "8": { class_type: "VAEDecode", inputs: { samples: ["3", 0], vae: ["4", 2] } },
  "9": { class_type: "SaveImage", inputs: { filename_prefix: "svc", images: ["8", 0] } },
};

export const SLOTS = {
  prompt: { node: "6", input: "text" },
  negative_prompt: { node: "7", input: "text" },
  size: { width: { node: "5", input: "width" }, height: { node: "5", input: "height" } },
  n: { node: "5", input: "batch_size" },
  steps: { node: "3", input: "steps" },
  seed: { node: "3", input: "seed" },
};

type Form = NonNullable<Parameters<typeof toRoute>[0]["workflow"]>;

/** The wording of a route with this workflow. */
export function wordingOf(given: Partial<Form> = {}, parameters?: Wording["parameters"]): Wording {
  const workflow = { nodes: NODES, slots: SLOTS, ...given };
  const route = { provider: "comfyui", upstream_model: "sdxl", workflow };
  return toRoute({ ...route, ...(parameters && { wording: { parameters } }) }).wording ?? {};
}

let attempts = 0;

export function submission(
  given: {
    readonly prompt?: string;
    readonly n?: number;
    readonly kind?: TaskKind;
    readonly parameters?: { readonly [name: string]: Json };
    readonly inputs?: readonly InputFile[];
    readonly wording?: Wording;
  } = {},
): SubmitRequest {
  const number = String(++attempts).padStart(26, "0");
  const { prompt = "A red fox", n = 1, kind = "image", parameters = {}, inputs = [], wording } = given;
  return {
    attempt: `att_${number}` as AttemptId,
    taskId: `task_${number}` as TaskId,
    upstreamModel: "sdxl",
    wording: wording ?? wordingOf(),
    request: { kind, model: "sdxl" as ModelId, mode: "text-to-image", prompt, n, parameters, inputs: [] },
    inputs,
  };
}
