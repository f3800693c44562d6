import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";

/** Finds the model here that a provider's name for one stands for. */
export type FindModel = (provider: ProviderId | undefined, name: string) => ModelId | undefined;

/**
 * A model is found by its own id, or by the name that one of its routes has for it at that provider. Where several models have such a
 * route, the one that is listed first is found.
 *
 * @param models those here
 */
export function createFindModel(models: readonly Model[]): FindModel {
  const ids = new Map(models.map(({ id }) => [String(id), id]));
  const routed = new Map<string, ModelId>();
  const add = (provider: ProviderId, name: string, id: ModelId) => {
    const key = `${provider} ${name}`;
    if (!routed.has(key)) routed.set(key, id);
  };
  for (const { id, routes } of models) {
    for (const { provider, upstreamModel, wording } of routes) {
      add(provider, upstreamModel, id);
      for (const endpoint of Object.values(wording?.endpoints ?? {})) {
        if (!endpoint.startsWith("/")) add(provider, endpoint, id);
      }
    }
  }
  return (provider, name) => {
    if (provider === undefined) return ids.get(name);
    return (
      routed.get(`${provider} ${name}`) ??
      (hasRoute(models, ids.get(name), provider) ? ids.get(name) : undefined)
    );
  };
}

/** The names that a provider has for the models that it makes here, and those models. */
export type NamesAt = (provider: ProviderId) => readonly (readonly [name: string, id: ModelId])[];

/** @param models those here */
export function createNamesAt(models: readonly Model[]): NamesAt {
  return (provider) => {
    const names = new Map<string, ModelId>();
    for (const { id, routes } of models) {
      for (const { upstreamModel, ...route } of routes)
        if (route.provider === provider && !names.has(upstreamModel)) names.set(upstreamModel, id);
    }
    return [...names];
  };
}

function hasRoute(models: readonly Model[], id: ModelId | undefined, provider: ProviderId): boolean {
  if (id === undefined) return false;
  return models.some((model) => model.id === id && model.routes.some((route) => route.provider === provider));
}
