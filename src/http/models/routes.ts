import {
  managedModelForm,
  modelForm,
  modelFormInFull,
  publishedSchema,
} from "../../domain/model/model-form.ts";
import type { ManageModels } from "../../service/manage-models.ts";
import { type PriceDeps, priceTerms } from "../../service/price-terms.ts";
import {
  type FoundModel,
  listAllModels,
  type ModelDeps,
  readAnyModel,
  readModel,
} from "../../service/read-model.ts";
import { type Endpoint, keyed, managed } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import { LIST_MANAGED_MODELS, LIST_MODELS, MODELS_QUERY, READ_MANAGED_MODEL, READ_MODEL } from "./wire.ts";

type ModelsQuery = { all?: boolean };

export function modelEndpoints(deps: ModelDeps & PriceDeps): Endpoint[] {
  return [
    keyed("GET", "/v1/models", LIST_MODELS, {}, ({ principal, query }) => {
      const { all = false } = checkQuery(MODELS_QUERY, query()) as ModelsQuery;
      const models = listAllModels(deps, principal).filter(({ isAvailable }) => all || isAvailable);
      return success({
        models: models.map((found) =>
          modelForm({ ...found, terms: priceTerms(deps, principal, found.model) }),
        ),
      });
    }),
    keyed("GET", "/v1/models/:model", READ_MODEL, {}, ({ param, principal, query }) => {
      const { all = false } = checkQuery(MODELS_QUERY, query()) as ModelsQuery;
      const id = param("model");
      const found: FoundModel = all
        ? readAnyModel(deps, principal, id)
        : { model: readModel(deps, principal, id), isAvailable: true };
      return success(modelFormInFull({ ...found, terms: priceTerms(deps, principal, found.model) }));
    }),
  ];
}

/** The same for management tokens: every model, with its routes and what each of them lacks. */
export function managedModelEndpoints(models: ManageModels): Endpoint[] {
  return [
    managed("GET", "/admin/v1/models", LIST_MANAGED_MODELS, async () =>
      success({ models: (await models.list()).map(managedModelForm) }),
    ),
    managed("GET", "/admin/v1/models/:model", READ_MANAGED_MODEL, async ({ param }) => {
      const found = await models.read(param("model"));
      return success({ ...managedModelForm(found), schema: publishedSchema(found.model) });
    }),
  ];
}
