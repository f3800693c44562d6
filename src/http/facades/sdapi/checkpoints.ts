import type { Principal } from "../../../domain/access/account.ts";
import { AppError } from "../../../domain/errors.ts";
import type { ProviderId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { ChoiceStore } from "../../../domain/ports/choice-store.ts";
import { cheapestImageModel } from "../../../service/cheapest-model.ts";
import { misformed } from "../../../service/model-fields.ts";
import type { PriceDeps } from "../../../service/price-terms.ts";
import { aliasedId, listAliases, listModels, type ModelDeps } from "../../../service/read-model.ts";
import { isEnlarging } from "../enlarging.ts";
import { askedModel } from "../models.ts";

export interface CheckpointDeps extends ModelDeps, PriceDeps {
  readonly choices: ChoiceStore;
}

/** What clients choose a model by, once for all their later requests. */
export const CHECKPOINT = "sd_model_checkpoint";
/** Of choices that keys have made. */
const MATTER = `automatic1111.${CHECKPOINT}`;
const PROVIDER = "sdapi" as ProviderId;

/** A checkpoint's file, `xl/base.safetensors`, without the hash that titles end in. */
function withoutHash(title: string): string {
  const from = title.endsWith("]") ? title.lastIndexOf("[") : -1;
  const hash = from === -1 ? "" : title.slice(from + 1, -1);
  return hash === "" || hash.includes("]") ? title : title.slice(0, from).trimEnd();
}

const withoutEnding = (file: string) => file.replace(/\.\w+$/, "");

/**
 * The model that a client calls by a title: an id, an alias, or the name of a checkpoint that a route leads to.
 * @throws AppError as `readModel`
 */
export function findCheckpoint(deps: ModelDeps, principal: Principal, title: Json): Model {
  if (typeof title !== "string") throw misformed("model", "text", title);
  const name = withoutHash(title);
  const isNamed = ({ upstreamModel }: { readonly upstreamModel: string }) =>
    [withoutHash(upstreamModel), withoutEnding(withoutHash(upstreamModel))].includes(name);
  return askedModel(deps, principal, name, { provider: PROVIDER, isNamed }).model;
}

/**
 * The model for a request that names none: the one that the key has chosen, else the cheapest that draws from a prompt.
 * @throws AppError as `readModel`; `model_not_found` where the key has no such model
 */
export async function currentModel(
  deps: CheckpointDeps,
  principal: Principal,
): Promise<{ model: Model; title: string }> {
  const chosen = await deps.choices.chosen(principal.keyId, MATTER);
  if (chosen !== undefined) return { model: findCheckpoint(deps, principal, chosen), title: chosen };
  const model = cheapestImageModel(deps, principal);
  if (model === undefined) throw new AppError("model_not_found", { kind: "no_image_model" });
  return { model, title: model.id };
}

/** The title of the model for requests that name none, also of one that cannot be used at present. */
export async function currentTitle(deps: CheckpointDeps, principal: Principal): Promise<string | undefined> {
  const chosen = await deps.choices.chosen(principal.keyId, MATTER);
  return chosen ?? cheapestImageModel(deps, principal)?.id;
}

/** Makes a model that of the key's later requests. @throws AppError as `readModel`, and for a model that makes no images */
export async function chooseCheckpoint(
  deps: CheckpointDeps,
  principal: Principal,
  title: Json,
): Promise<void> {
  const model = findCheckpoint(deps, principal, title);
  requireImageModel(model);
  const isAlias = typeof title === "string" && aliasedId(deps, principal, title) === model.id;
  const choice = isAlias ? title : model.id;
  if ((await deps.choices.chosen(principal.keyId, MATTER)) !== choice)
    await deps.choices.choose(principal.keyId, MATTER, choice);
}

/** @throws AppError for a model that makes no images */
export function requireImageModel(model: Model): void {
  if (model.kind !== "image")
    throw new AppError("model_not_found", { kind: "video_model_here", model: model.id, field: "model" });
}

/** Image models that draw and their aliases, as that API lists checkpoints. What only makes pictures larger is among the upscalers. */
export function listCheckpoints(deps: ModelDeps, principal: Principal): JsonObject[] {
  const isImage = (model: Model) =>
    model.kind === "image" &&
    (!isEnlarging(model) || model.modes.some(({ requires }) => requires.length === 0));
  const titles = [
    ...listModels(deps, principal)
      .filter(isImage)
      .map(({ id }) => id),
    ...listAliases(deps, principal)
      .filter(({ model }) => isImage(model))
      .map(({ alias }) => alias),
  ];
  return titles.map((title) => ({
    ...{ title, model_name: title, filename: title },
    ...{ hash: null, sha256: null, config: null },
  }));
}
