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
  const met = Object.keys(body).filter((name) => Object.hasOwn(always, name));
  for (const field of met) {
    const given = body[field] ?? null;
    const anyOf = alwaysOf(model, field) ?? [];
    if (!anyOf.includes(given))
      return { ok: false, facts: { kind: "must", field, must: { anyOf }, given: { json: given } } };
  }
  if (met.length === 0) return { ok: true, body };
  return { ok: true, body: Object.fromEntries(Object.entries(body).filter(([name]) => !met.includes(name))) };
}
