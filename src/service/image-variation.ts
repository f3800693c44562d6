import type { Principal } from "../domain/access/account.ts";
import { invalid } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { cheapestModel } from "./cheapest-model.ts";
import type { CompatRequest } from "./compat-request.ts";
import { imageField, isList, propertyOf } from "./model-fields.ts";
import type { PriceDeps } from "./price-terms.ts";
import { type ModelDeps, readCompatModel } from "./read-model.ts";

/** What a model is asked for that wants a prompt: variations have none. */
export const VARIATION_PROMPT = "Another version of this image, with the same subject and in the same style.";
/** Stands for the image, to see which model could take it. */
const SOME_IMAGE = "https://example.com/image.png";

/** Fields of a request that say nothing of a variation. */
const NOT_OF_VARIATIONS: readonly string[] = ["prompt", "stream", "partial_images"];

/**
 * A request for versions of one image, as an edit by a prompt of ours: by the model it names, or the cheapest that takes an image and a
 * prompt.
 * @throws AppError `invalid_request` naming `model` where that one takes no image, or none does; `model_not_found`, `permission_denied`
 */
export function asVariation(
  deps: ModelDeps & PriceDeps,
  principal: Principal,
  request: CompatRequest,
): CompatRequest {
  const kept = Object.entries(request.fields).filter(([name]) => !NOT_OF_VARIATIONS.includes(name));
  const model = modelFor(deps, principal, request.fields.model);
  return { ...request, fields: { ...Object.fromEntries(kept), model, prompt: VARIATION_PROMPT } };
}

function modelFor(deps: ModelDeps & PriceDeps, principal: Principal, named: Json | undefined): Json {
  if (named === undefined) {
    const cheapest = cheapestModel(deps, principal, bodyFor);
    if (cheapest === undefined) throw invalid({ kind: "no_variations", field: "model" });
    return cheapest.id;
  }
  const model = readCompatModel(deps, principal, named);
  // Where it makes no images at all, its name is refused as in any request.
  if (model.kind === "image" && imageField(model, 1) === undefined)
    throw invalid({ kind: "no_variations", field: "model", model: model.id });
  return named;
}

function bodyFor(model: Model) {
  const field = imageField(model, 1);
  if (field === undefined || propertyOf(model, "prompt") === undefined) return undefined;
  const image = isList(model, field) ? [SOME_IMAGE] : SOME_IMAGE;
  return { model: model.id, prompt: VARIATION_PROMPT, [field.name]: image };
}
