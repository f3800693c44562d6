import { AppError } from "../domain/errors.ts";
import {
  type KnownAccounts,
  type NeedsOf,
  type RouteState,
  routeStates,
} from "../domain/model/availability.ts";
import type { Model } from "../domain/model/model.ts";
import type { PriceTerms } from "../domain/money/pricing.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { RouteStore, RouteTrouble } from "../domain/ports/route-store.ts";
import { suggest } from "../domain/suggest.ts";
import { type PriceDeps, ruleInForce } from "./price-terms.ts";

/** A model as its operator sees it. */
export interface ManagedModel {
  readonly model: Model;
  /** Its price in force. */
  readonly terms: PriceTerms;
  readonly routes: readonly RouteState[];
}

export interface ManageModelsDeps extends PriceDeps {
  readonly catalog: Pick<Catalog, "all">;
  readonly needsOf: NeedsOf;
  readonly routes: Pick<RouteStore, "troubles">;
  readonly lanesOf: KnownAccounts["lanesOf"];
}

/** Shows operators every model, even if no provider makes it at present. */
export function createManageModels(deps: ManageModelsDeps) {
  const { catalog, needsOf } = deps;
  const describe = (model: Model, troubles: readonly RouteTrouble[]): ManagedModel => ({
    model,
    terms: { rule: ruleInForce(deps, model).rule },
    routes: routeStates(model, needsOf, { troubles, lanesOf: deps.lanesOf, now: deps.clock.now() }),
  });
  return {
    async list(): Promise<ManagedModel[]> {
      const troubles = await deps.routes.troubles();
      return catalog.all().map((model) => describe(model, troubles));
    },
    /** @throws AppError `not_found` if there is no such model */
    async read(id: string): Promise<ManagedModel> {
      return describe(findModel(catalog, id), await deps.routes.troubles());
    },
  };
}
export type ManageModels = ReturnType<typeof createManageModels>;

/** The model of this id, offered or not. @throws AppError `not_found`, with the closest existing id */
export function findModel(catalog: Pick<Catalog, "all">, id: string): Model {
  const models = catalog.all();
  const model = models.find((each) => each.id === id);
  if (model !== undefined) return model;
  const near = suggest(
    id,
    models.map((each) => each.id),
  );
  throw new AppError("not_found", { kind: "unknown", what: "model", given: id, near });
}
