import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";

/** The name by which conditions of prices mean the mode of a request. A parameter of that name counts before it. */
export const MODE = "mode";

/** Whether `mode` in a price means the mode of a request, and no parameter. */
export function meansMode({ schema }: Pick<Model, "schema">): boolean {
  return !isJsonObject(schema.properties) || !Object.hasOwn(schema.properties, MODE);
}

/** What the price of a request can depend on: its parameters, and its mode as if that were one. */
export function pricedFields(
  model: Pick<Model, "schema">,
  { mode, parameters }: Pick<GenerationRequest, "mode" | "parameters">,
): { readonly [name: string]: Json } {
  return meansMode(model) ? { ...parameters, [MODE]: mode } : parameters;
}

/** The schema of a model as prices see it: its mode is a field that is always there. */
export function pricedSchema(model: Pick<Model, "schema" | "modes">): JsonObject {
  const { properties, required } = model.schema;
  if (!meansMode(model)) return model.schema;
  return {
    ...model.schema,
    properties: {
      ...(isJsonObject(properties) && properties),
      [MODE]: { enum: model.modes.map(({ id }) => id) },
    },
    required: [...(Array.isArray(required) ? required : []), MODE],
  };
}
