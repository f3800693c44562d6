import type { Principal } from "../domain/access/account.ts";
import { invalid } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { cheapestModel } from "./cheapest-model.ts";
import type { CompatRequest } from "./compat-request.ts";
import { imageField, isList, propertyOf } from "./model-fields.ts";
import type { PriceDeps } from "./price-terms.ts";
import { type ModelDeps, readCompatModel } from "./read-model.ts";

/** The prompt for a model that needs one; requests for variations have none. */
const VARIATION_PROMPT = "Another version of this image, with the same subject and in the same style.";
/** A stand-in for the image, to see which model could take it. */
const SOME_IMAGE = "https://example.com/image.png";

/** Fields of a request that have no meaning for a variation. */
const NOT_OF_VARIATIONS: readonly string[] = ["prompt", "stream", "partial_images"];

/**
 * Turns a request for variations of an image into an edit with our own prompt. It uses the model that the request names, or
 * else the cheapest that takes an image and a prompt.
 * @throws AppError `invalid_request` naming `model` if that model takes no image, or none does; `model_not_found`,
 * `permission_denied`
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
  // If the model makes no images at all, its name is refused as in any other request.
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
