import { AppError } from "../domain/errors.ts";
import type { Model } from "../domain/model.ts";
import type { Catalog } from "../domain/ports/catalog.ts";

/** @throws AppError `model_not_available` */
export function readModel(deps: { catalog: Catalog }, id: string): Model {
  const model = deps.catalog.find(id);
  if (model !== undefined) return model;
  throw new AppError(
    "model_not_available",
    `There is no model "${id.slice(0, 80)}"; GET /v1/models lists those available.`,
  );
}
