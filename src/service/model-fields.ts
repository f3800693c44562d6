import { type AppError, mustBe } from "../domain/errors.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readScalar,
  propertyOf as schemaPropertyOf,
} from "../domain/json.ts";
import { takesValue } from "../domain/model/eligibility.ts";
import type { MediaField, Model, Route } from "../domain/model/model.ts";
import type { Form } from "../domain/words/demand.ts";

/* Reads from a model's schema what translations of other APIs' requests need. */

/** A model, and its usable routes. */
export interface OfferedModel {
  readonly model: Model;
  readonly routes: readonly Route[];
}

/** A property of a model's create body. */
export const propertyOf = ({ schema }: Model, name: string): JsonObject | undefined =>
  schemaPropertyOf(schema, name);

/** The model's field for this many images: a list if there are several images, or if the model has no single field. */
export function imageField(model: Model, count: number): MediaField | undefined {
  const fields = model.mediaFields.filter((field) => field.media === "image" && field.role !== "mask");
  const single = fields.find((field) => !isList(model, field));
  const list = fields.find((field) => isList(model, field));
  return count > 1 ? (list ?? single) : (single ?? list);
}

/** Whether a media field takes several files. */
export function isList(model: Model, field: MediaField): boolean {
  return propertyOf(model, field.name)?.type === "array";
}

/** The texts from which a field can be chosen; none if the field is free or no text. */
export function choices(model: Model, name: string): readonly string[] {
  const values = propertyOf(model, name)?.enum;
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

/** The texts that one of the routes takes. */
export function takenChoices({ model, routes }: OfferedModel, name: string): readonly string[] {
  return choices(model, name).filter((choice) => routes.some((route) => takesValue(route, name, choice)));
}

/**
 * A form contains only texts. Reads texts as numbers, booleans, lists and objects where the model's schema expects these.
 * @throws AppError for a text that must be JSON but is not
 */
export function readText(model: Model, fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const property = name === "n" ? { type: "integer" } : propertyOf(model, name);
      return [name, value === undefined ? value : readAs(name, property, value)];
    }),
  );
}

function readAs(name: string, property: JsonObject | undefined, value: Json): Json {
  if (typeof value === "string") return readTextAs(name, property?.type, value);
  if (Array.isArray(value)) {
    const { items } = property ?? {};
    const ofEntries = isJsonObject(items) ? items : undefined;
    return value.map((entry) => readAs(name, ofEntries, entry));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, text]) => [
      member,
      text === undefined ? text : readAs(`${name}.${member}`, schemaPropertyOf(property ?? {}, member), text),
    ]),
  );
}

function readTextAs(name: string, type: Json | undefined, text: string): Json {
  if (type !== "object" && type !== "array") return readScalar(type, text);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw misformed(name, "json", text);
  }
}

/** A field whose JSON does not have the form it must have. */
export function misformed(field: string, form: Form, given: Json): AppError {
  return mustBe(field, { form }, { json: given });
}
