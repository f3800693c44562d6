import { listModels, type ModelDeps, readModel } from "../../service/read-model.ts";
import type { Route } from "../exchange.ts";
import { presentModel, presentModelInFull } from "../present.ts";
import { success } from "../reply.ts";
import { LIST_MODELS, READ_MODEL } from "../wire/models.ts";

export function modelRoutes(deps: ModelDeps): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/models",
      operation: LIST_MODELS,
      access: "api_key",
      handle: ({ principal }) => success({ models: listModels(deps, principal).map(presentModel) }),
    },
    {
      method: "GET",
      path: "/v1/models/:model",
      operation: READ_MODEL,
      access: "api_key",
      handle: ({ param, principal }) =>
        success(presentModelInFull(readModel(deps, principal, param("model")))),
    },
  ];
}
