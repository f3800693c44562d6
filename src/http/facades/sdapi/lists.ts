import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { choices, propertyOf } from "../../../service/model-fields.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { type CheckpointDeps, currentModel, listCheckpoints } from "./checkpoints.ts";
import { listUpscalers } from "./upscalers.ts";

/** What an endpoint answers a key with. */
export type ListOf = (deps: CheckpointDeps, exchange: KeyedExchange) => unknown;

/** Stands in lists for leaving it to the model, which is all there is where a model has no choice. */
const BY_MODEL = "Automatic";

/** The answers of endpoints that list what can be chosen, by the end of their paths. Of files that a server could load there are none. */
export const LISTS: Readonly<Record<string, ListOf>> = {
  "sd-models": (deps, { principal }) => listCheckpoints(deps, principal),
  samplers: async (deps, exchange) =>
    namesFor(await chosen(deps, exchange), "sampler").map((name) => ({ name, aliases: [], options: {} })),
  schedulers: async (deps, exchange) =>
    namesFor(await chosen(deps, exchange), "scheduler").map((name) => ({
      ...{ name: name === BY_MODEL ? "automatic" : name, label: name, aliases: null },
      ...{ default_rho: -1, need_inner_model: false },
    })),
  upscalers: (deps, { principal }) => [
    upscaler("None", 1),
    ...listUpscalers(deps, principal).map(({ id }) => upscaler(id, null)),
  ],
  "latent-upscale-modes": () => [],
  loras: () => [],
  hypernetworks: () => [],
  embeddings: () => ({ loaded: {}, skipped: {} }),
  "sd-vae": () => [],
  // Forge's, by which its clients tell that it is there.
  "sd-modules": () => [],
  extensions: () => [],
  "prompt-styles": () => [],
  "face-restorers": () => [],
  "realesrgan-models": () => [],
  scripts: () => ({ txt2img: [], img2img: [] }),
  "script-info": () => [],
  "cmd-flags": () => ({ api: true, api_auth: null }),
  memory: () => ({ ram: { error: "not told" }, cuda: { error: "unavailable" } }),
};

/** Endpoints that make a server look at its files again. */
export const REFRESHES = [
  ...["refresh-checkpoints", "refresh-vae", "refresh-loras", "refresh-embeddings"],
  ...["reload-checkpoint", "unload-checkpoint"],
] as const;

export async function listed(deps: CheckpointDeps, exchange: KeyedExchange, list: ListOf): Promise<Reply> {
  return json(await list(deps, exchange));
}

/** The model of requests that name none; undefined where it cannot be used. */
async function chosen(deps: CheckpointDeps, { principal }: KeyedExchange): Promise<Model | undefined> {
  try {
    return (await currentModel(deps, principal)).model;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function namesFor(model: Model | undefined, field: "sampler" | "scheduler"): readonly string[] {
  if (model === undefined) return [BY_MODEL];
  const modelField = [`${field}_name`, field].find((name) => propertyOf(model, name) !== undefined);
  const names = modelField === undefined ? [] : choices(model, modelField);
  return names.length === 0 ? [BY_MODEL] : names;
}

function upscaler(name: string, scale: number | null): JsonObject {
  return { name, model_name: null, model_path: null, model_url: null, scale };
}
