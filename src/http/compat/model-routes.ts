import type { JsonObject } from "../../domain/json.ts";
import type { Model } from "../../domain/model/model.ts";
import { listAliases, listModels, type ModelDeps, readCompatModel } from "../../service/read-model.ts";
import { type Endpoint, keyed } from "../exchange.ts";
import { json } from "../reply.ts";
import { LIST_COMPATIBLE_MODELS, READ_COMPATIBLE_MODEL } from "./wire.ts";

/** GET /compat/v1/models in the shape that clients of that API pick models from: image models, and their aliases. */
export function compatModelEndpoints(deps: ModelDeps): Endpoint[] {
  return [
    keyed("GET", "/compat/v1/models", LIST_COMPATIBLE_MODELS, {}, ({ principal }) => {
      const models = listModels(deps, principal).filter((model) => model.kind === "image");
      const aliases = listAliases(deps, principal).filter(({ model }) => model.kind === "image");
      const data = [
        ...models.map((model) => presentCompatModel(model.id, model)),
        ...aliases.map(({ alias, model }) => presentCompatModel(alias, model)),
      ];
      return json({ object: "list", data });
    }),
    keyed("GET", "/compat/v1/models/:model", READ_COMPATIBLE_MODEL, {}, ({ principal, param }) => {
      const id = param("model");
      return json(presentCompatModel(id, readCompatModel(deps, principal, id)));
    }),
  ];
}

/** Clients require a number, and the date of a model is not known. */
const CREATED = 0;

function presentCompatModel(id: string, model: Model): JsonObject {
  return { id, object: "model", created: CREATED, owned_by: model.routes[0]?.provider ?? "svc" };
}
