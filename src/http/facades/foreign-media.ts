import { invalid } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import type { MediaKind } from "../../domain/media/asset.ts";
import type { MediaField, Model } from "../../domain/model/model.ts";
import type { InputRole } from "../../domain/task/request.ts";
import { isList } from "../../service/model-fields.ts";

/** Files that a field of another API names. */
export type ForeignMedia = {
  /** The field, as messages name it. */
  readonly param: string;
  /** Its name alone. */
  readonly name: string;
  /** An address or a data URI, or a list of them. */
  readonly value: Json;
  /** Its place among fields that are numbered, from 1. */
  readonly place: number;
} & (
  | { readonly field: MediaField }
  | {
      readonly field?: undefined;
      readonly media: MediaKind;
      /** What they may be for, best first. */
      readonly roles: readonly InputRole[];
    }
);

/** One file, and where it was given. */
interface Placed {
  readonly value: Json;
  readonly param: string;
}

/**
 * Gives files to the model's fields of their role: to one for a single file where there is one and only one file, else to a list.
 * @throws AppError naming the field of a file that the model has no use for
 */
export function putMedia({
  model,
  media,
  body,
  names,
}: {
  readonly model: Model;
  readonly media: readonly ForeignMedia[];
  readonly body: Record<string, Json>;
  readonly names: Record<string, string>;
}): void {
  const inOrder = [...media].sort((one, other) => one.place - other.place);
  const groups = Map.groupBy(
    inOrder.map((given) => meantBy(model, given)),
    ({ role, own }) => own?.name ?? ` ${role}`,
  );
  for (const [meant, ...others] of groups.values()) {
    if (meant === undefined) continue;
    const givens = [meant, ...others].map(({ given }) => given);
    const files = givens.flatMap(filesOf);
    const field = meant.own ?? fieldFor(model, meant.role, files.length);
    const [first] = files;
    if (first === undefined || field === undefined) continue;
    if (body[field.name] !== undefined) throw invalid({ kind: "given_twice", field: first.param });
    // A list that is one field of the caller's has the same entries there.
    const [list] = givens.length === 1 && Array.isArray(givens[0]?.value) ? givens : [];
    names[field.name] = list?.param ?? first.param;
    if (!isList(model, field)) {
      if (files.length > 1)
        throw tooMany(model, list?.param ?? givens[1]?.param ?? first.param, files.length);
      names[field.name] = first.param;
      body[field.name] = first.value;
    } else {
      body[field.name] = files.map(({ value }) => value);
      if (list !== undefined) continue;
      for (const [i, { param }] of files.entries()) names[`${field.name}[${i}]`] = param;
    }
  }
}

/** A field of files, and what they are for. `own` is the model's field that takes them as they come. */
interface Meant {
  readonly given: ForeignMedia;
  readonly role: InputRole;
  readonly own?: MediaField | undefined;
}

function meantBy(model: Model, given: ForeignMedia): Meant {
  const { field, param } = given;
  if (field !== undefined) {
    const isWhole = isList(model, field) === Array.isArray(given.value);
    return { given, role: field.role, own: isWhole ? field : undefined };
  }
  const isTaken = (role: InputRole) =>
    model.mediaFields.some((each) => each.role === role && each.media === given.media);
  const role = given.roles.find(isTaken);
  if (role !== undefined) return { given, role };
  if (given.media === "image") throw invalid({ kind: "image_unused", field: param, model: model.id });
  const { properties } = model.schema;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  throw invalid({ kind: "unknown_field", field: param, owner: model.id, known });
}

function filesOf({ value, param }: ForeignMedia): Placed[] {
  if (!Array.isArray(value)) return [{ value, param }];
  return value.map((entry: Json, i) => ({ value: entry, param: `${param}[${i}]` }));
}

/** The model's field for so many files of a role. */
function fieldFor(model: Model, role: InputRole, count: number): MediaField | undefined {
  const fields = model.mediaFields.filter((field) => field.role === role);
  const single = fields.find((field) => !isList(model, field));
  const list = fields.find((field) => isList(model, field));
  return count > 1 ? (list ?? single) : (single ?? list);
}

function tooMany({ id: model }: Model, field: string, given: number) {
  return invalid({ kind: "edits_one_image", field, model, given });
}
