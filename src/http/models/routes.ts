import { type PriceDeps, priceTerms } from "../../service/price-terms.ts";
import { listModels, type ModelDeps, readModel } from "../../service/read-model.ts";
import type { Endpoint } from "../exchange.ts";
import { success } from "../reply.ts";
import { presentModel, presentModelInFull } from "../tasks/present.ts";
import { LIST_MODELS, READ_MODEL } from "./wire.ts";

export function modelEndpoints(deps: ModelDeps & PriceDeps): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/v1/models",
      contract: LIST_MODELS,
      access: "api_key",
      handle: ({ principal }) => {
        const models = listModels(deps, principal);
        return success({
          models: models.map((model) => presentModel(model, priceTerms(deps, principal, model))),
        });
      },
    },
    {
      method: "GET",
      path: "/v1/models/:model",
      contract: READ_MODEL,
      access: "api_key",
      handle: ({ param, principal }) => {
        const model = readModel(deps, principal, param("model"));
        return success(presentModelInFull(model, priceTerms(deps, principal, model)));
      },
    },
  ];
}
