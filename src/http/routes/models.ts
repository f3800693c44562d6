import type { Catalog } from "../../domain/ports/catalog.ts";
import { readModel } from "../../service/read-model.ts";
import type { Route } from "../exchange.ts";
import { presentModel, presentModelInFull } from "../present.ts";
import { success } from "../reply.ts";

export function modelRoutes(deps: { catalog: Catalog }): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/models",
      access: "api_key",
      handle: () => success({ models: deps.catalog.models().map(presentModel) }),
    },
    {
      method: "GET",
      path: "/v1/models/:model",
      access: "api_key",
      handle: ({ param }) => success(presentModelInFull(readModel(deps, param("model")))),
    },
  ];
}
