import { isJsonObject, type JsonObject, propertyOf } from "../../src/domain/json.ts";
import { unexpectedAnswer } from "../failure.ts";
import type { Kind } from "./answer.ts";

/** A field of a create body that takes media. */
export interface ModelInput {
  readonly field: string;
  /** What the media means: `image`, `mask`, `first_frame`. */
  readonly role: string;
  readonly media: string;
}

/** A model as far as commands build requests for it. */
export interface ModelView {
  /** The id that was asked for, which may be an alias. */
  readonly id: string;
  readonly kind: Kind;
  readonly modes: readonly string[];
  readonly inputs: readonly ModelInput[];
  /** JSON Schema of the create body. */
  readonly schema: unknown;
  readonly isAvailable: boolean;
}

/** @throws Failure when the server does not say what kind of model it is */
export function modelOf(answer: JsonObject, asked: string): ModelView {
  const { kind, modes, schema, available } = answer;
  if (kind !== "image" && kind !== "video")
    throw unexpectedAnswer(`The server does not say what kind of model ${asked} is.`);
  return {
    id: asked,
    kind,
    modes: Array.isArray(modes) ? modes.map(String) : [],
    inputs: inputsOf(answer),
    schema,
    isAvailable: available !== false,
  };
}

/** A model of a list, by its own id. @throws Failure as `modelOf` does */
export function toModel(listed: JsonObject): ModelView {
  return modelOf(listed, String(listed.id));
}

export function inputsOf({ inputs }: JsonObject): ModelInput[] {
  return (Array.isArray(inputs) ? inputs : []).filter(isJsonObject).map(({ field, role, media }) => ({
    field: String(field),
    role: String(role),
    media: String(media),
  }));
}

/** Whether a field takes a list. */
export function isList({ schema }: Pick<ModelView, "schema">, field: string): boolean {
  return isJsonObject(schema) && propertyOf(schema, field)?.type === "array";
}
