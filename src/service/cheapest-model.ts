import type { Principal } from "../domain/access/account.ts";
import type { ProviderId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { isPriced, quote } from "../domain/money/pricing.ts";
import { toGenerationRequest } from "./generation-request.ts";
import { namedInputs } from "./named-inputs.ts";
import { type PriceDeps, priceTerms } from "./price-terms.ts";
import { listModels, type ModelDeps } from "./read-model.ts";

/** The model draws for rehearsals and is no AI. */
const SANDBOX = "sandbox" as ProviderId;

/**
 * The cheapest model that draws one image from a prompt, among those that the key may use and that a provider currently makes.
 * Sandbox models come last. Among equally cheap models, the one listed first wins.
 *
 * @returns undefined if there is none
 */
export function cheapestImageModel(deps: ModelDeps & PriceDeps, principal: Principal): Model | undefined {
  return cheapestModel(deps, principal, (model) =>
    model.modes.some(({ requires }) => requires.length === 0)
      ? { model: model.id, prompt: "a picture" }
      : undefined,
  );
}

/**
 * The same for any request: the cheapest model that can do it.
 * @param bodyFor a create body for a model; undefined if the model cannot
 */
export function cheapestModel(
  deps: ModelDeps & PriceDeps,
  principal: Principal,
  bodyFor: (model: Model) => JsonObject | undefined,
): Model | undefined {
  let best: { readonly model: Model; readonly rank: number; readonly cost: number } | undefined;
  for (const model of listModels(deps, principal)) {
    const body = model.kind === "image" ? bodyFor(model) : undefined;
    const cost = body && costOf(deps, principal, model, body);
    if (cost === undefined) continue;
    const rank = model.routes.every(({ provider }) => provider === SANDBOX) ? 1 : 0;
    if (best === undefined || rank < best.rank || (rank === best.rank && cost < best.cost))
      best = { model, rank, cost };
  }
  return best?.model;
}

/** The price of a request; undefined if the model needs more fields or has no price for it. */
function costOf(
  deps: ModelDeps & PriceDeps,
  principal: Principal,
  model: Model,
  body: JsonObject,
): number | undefined {
  const validated = deps.catalog.validate(model, body);
  if (!validated.ok) return undefined;
  const request = toGenerationRequest(model, validated.body, namedInputs(model, validated.body));
  const promised = quote(model, request, priceTerms(deps, principal, model));
  return isPriced(promised) ? promised.ceiling : undefined;
}
