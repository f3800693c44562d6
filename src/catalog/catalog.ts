import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";
import type { Catalog, PriceCatalog } from "../domain/ports/catalog.ts";
import { readManifest } from "./manifest.ts";
import { MANIFESTS } from "./models.ts";
import { readOperatorPrice, unpricedRequest } from "./operator-price.ts";
import { createValidator } from "./validate.ts";

export interface CatalogOptions {
  /** Models none of whose providers are enabled are not offered. */
  readonly isEnabled?: (provider: ProviderId) => boolean;
  /** In place of the built-in models: file name and content of each. */
  readonly manifests?: readonly (readonly [file: string, content: unknown])[];
}

/**
 * Reads the manifests. Schemas are compiled when first used; `warm` does it beforehand, for a server that is up and has nothing
 * to do yet.
 *
 * @throws ManifestError when one cannot be used; Error when two have one id
 */
export function createCatalog(
  options: CatalogOptions = {},
): Catalog & PriceCatalog & { warm(): Promise<void> } {
  const { isEnabled = () => true, manifests = MANIFESTS } = options;
  const all = manifests.map(([file, content]) => readManifest(file, content));
  const offered = all.filter((model) => model.routes.some((route) => isEnabled(route.provider)));
  const byId = new Map<string, Model>(offered.map((model) => [model.id, model]));
  const twice = firstTwice(all.map((model) => model.id));
  if (twice !== undefined) throw new Error(`Two manifests have the id "${twice}".`);
  const validator = createValidator();
  return {
    models: () => offered,
    find: (id) => byId.get(id),
    validate: validator.validate,
    all: () => all,
    readPrice: readOperatorPrice,
    unpricedRequest: (model, rule) => unpricedRequest(validator, model, rule),
    async warm() {
      for (const model of offered) {
        validator.prepare(model);
        // Each takes milliseconds; requests come first.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    },
  };
}

function firstTwice(ids: readonly ModelId[]): ModelId | undefined {
  return ids.find((id, i) => ids.indexOf(id) !== i);
}
