import type { JsonObject } from "../json.ts";
import type { Model } from "../model.ts";

/** A body that a model's schema accepts, defaults filled in, or the first thing wrong with it. */
export type Validated =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly message: string; readonly param?: string | undefined };

/** The models this installation offers. */
export interface Catalog {
  /** In the order they are listed. */
  models(): readonly Model[];
  find(id: string): Model | undefined;
  /**
   * Checks a create body against the model's own JSON Schema (2020-12). The message names the field, what was given (cut at 80
   * characters) and what is allowed; an unknown field's names the closest known one. The body given is not changed.
   */
  validate(model: Model, body: JsonObject): Validated;
}
