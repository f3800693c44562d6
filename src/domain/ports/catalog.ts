import type { JsonObject } from "../json.ts";
import type { Model } from "../model.ts";

/** A body that a model's schema accepts, defaults filled in, or the first thing wrong with it. */
export type Validated =
  | {
      readonly ok: true;
      readonly body: JsonObject;
      /** Fields that were left out, and that a create would need; absent for none. */
      readonly missing?: readonly string[] | undefined;
    }
  | { readonly ok: false; readonly message: string; readonly param?: string | undefined };

export interface ValidateOptions {
  /**
   * The prompt and media may be left out, as by somebody who asks for a price. Where the model does nothing without the media, or
   * other fields are valid only together with them, those of the simplest mode that fits are taken for present: `missing` names them.
   */
  readonly isPartial?: boolean | undefined;
}

/** The models this installation offers. */
export interface Catalog {
  /** In the order they are listed. */
  models(): readonly Model[];
  find(id: string): Model | undefined;
  /**
   * Checks a create body against the model's own JSON Schema (2020-12). The message names the field, what was given (cut at 80
   * characters) and what is allowed; an unknown field's names the closest known one. The body given is not changed.
   */
  validate(model: Model, body: JsonObject, options?: ValidateOptions): Validated;
}
