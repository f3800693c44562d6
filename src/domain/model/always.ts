import type { Json, JsonObject } from "../json.ts";
import type { Facts } from "../words/words.ts";
import type { Model } from "./model.ts";

/**
 * The values of a field that hold of everything a model makes, though it has no such field: `[true]` of `generate_audio` for a model
 * that always films with sound. Undefined for a field of which the model says nothing.
 */
export function alwaysOf({ always }: Pick<Model, "always">, field: string): readonly Json[] | undefined {
  return always !== undefined && Object.hasOwn(always, field) ? always[field] : undefined;
}

/** A body without the fields that ask for what the model does anyway, or the first that asks for something else. */
export type WithoutAlways =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly facts: Facts };

/** Leaves out of a create body what holds of the model without being asked for. */
export function withoutAlways(model: Pick<Model, "always">, body: JsonObject): WithoutAlways {
  const { always } = model;
  // Most models have none, and every create asks.
  if (always === undefined) return { ok: true, body };
  const met = Object.entries(always).filter(([field]) => Object.hasOwn(body, field));
  if (met.length === 0) return { ok: true, body };
  const rest = { ...body };
  for (const [field, anyOf] of met) {
    const given = body[field] ?? null;
    if (!anyOf.includes(given))
      return { ok: false, facts: { kind: "must", field, must: { anyOf }, given: { json: given } } };
    delete rest[field];
  }
  return { ok: true, body: rest };
}
