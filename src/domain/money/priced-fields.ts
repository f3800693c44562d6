import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";

/** The name that stands for the mode of a request in the conditions of prices. A parameter of the same name takes precedence. */
export const MODE = "mode";

/** Whether `mode` in a price means the mode of a request, because no parameter has that name. */
export function meansMode({ schema }: Pick<Model, "schema">): boolean {
  return !isJsonObject(schema.properties) || !Object.hasOwn(schema.properties, MODE);
}

/** Everything that can affect the price of a request: its parameters, and its mode as another parameter. */
export function pricedFields(
  model: Pick<Model, "schema">,
  { mode, parameters }: Pick<GenerationRequest, "mode" | "parameters">,
): { readonly [name: string]: Json } {
  return meansMode(model) ? { ...parameters, [MODE]: mode } : parameters;
}

/** The schema of a model as prices see it, with its mode as a field that is always present. */
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
