import type { Json, JsonObject } from "../json.ts";
import type { Model, PriceRule, Route } from "../model/model.ts";
import type { Facts } from "../words/words.ts";

/** A body that a model's schema accepts, defaults filled in, or the first thing that is wrong with it. */
export type Validated =
  | {
      readonly ok: true;
      readonly body: JsonObject;
      /** Missing fields that a create would need; absent if there are none. */
      readonly missing?: readonly string[] | undefined;
    }
  | { readonly ok: false; readonly facts: Facts };

export interface ValidateOptions {
  /**
   * Lets the prompt and media be missing, as in a request for a price. If the model needs the media, or other fields are valid only
   * with them, those of the simplest mode that fits count as present. `missing` names them.
   */
  readonly isPartial?: boolean | undefined;
}

/** All models. Models with a provider that is switched on are offered. */
export interface Catalog {
  /** The offered models in listing order. Returns the same list until it changes. */
  models(): readonly Model[];
  /** One that is offered. */
  find(id: string): Model | undefined;
  /** Every model, offered or not, in the order they are listed. */
  all(): readonly Model[];
  /** The routes of a model whose provider is switched on, in the order they are tried. */
  routes(model: Model): readonly Route[];
  /**
   * Checks a create body against the model's own JSON Schema (2020-12). What it refuses names the field, what was given
   * and what is allowed; for an unknown field, the closest known one. The body given is not changed.
   */
  validate(model: Model, body: JsonObject, options?: ValidateOptions): Validated;
}

/** An operator's price rule, or what is wrong with it. `problem` completes "<path> …". */
export type ReadPrice =
  | { readonly ok: true; readonly rule: PriceRule }
  | { readonly ok: false; readonly path: string; readonly problem: string };

/** The models that prices can be set for, and how. */
export interface PriceCatalog extends Pick<Catalog, "all"> {
  /**
   * Reads a price rule in the form of manifests: `lines`, `minimum` and `version`. The version is computed from the rest if it
   * is absent, or if it already names other prices, namely the model's own or those of `before`. Refuses a rule that prices no
   * request of the model.
   */
  readPrice(model: Model, value: unknown, before?: PriceRule): ReadPrice;
  /** Parameters of a request that the model takes but the rule has no price for; undefined when none is found, or too many would have to be looked at. */
  unpricedRequest(model: Model, rule: PriceRule): { readonly [name: string]: Json } | undefined;
}
