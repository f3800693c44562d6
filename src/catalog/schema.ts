import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { MediaField } from "../domain/model/model.ts";
import {
  ManifestError,
  type Place,
  readEntries,
  readList,
  readMembers,
  readObject,
  readText,
} from "./reading.ts";
import shared from "./shared.yaml";

/** Part of every create body; the rest of `shared.yaml` is asked for by name. */
const EVERYWHERE = ["model", "callback_url"];
const MEDIA = "media";

/**
 * The JSON Schema of a model's create body: what its manifest says, with what all models have in common, closed to unknown
 * fields.
 *
 * @param own the manifest's `schema`: `required`, `properties` and rules over several of them
 * @param names the manifest's `shared`
 * @throws ManifestError
 */
export function composeSchema(own: Place, names: Place, media: readonly MediaField[]): JsonObject {
  const at = readMembers(own, ["required", "properties", "allOf?", "dependentRequired?"]);
  const common = readObject({ file: "shared.yaml", path: "", value: shared });
  const properties: Record<string, Json> = { model: pick(common, "model", own) };
  for (const [name, place] of readEntries(at("properties"))) {
    const isMedia = media.some((field) => field.name === name);
    properties[name] = isMedia ? mediaProperty(place, pick(common, MEDIA, place)) : readObject(place);
  }
  for (const place of names.value === undefined ? [] : readList(names, 1)) {
    properties[readText(place)] = pick(common, readText(place), place);
  }
  for (const name of EVERYWHERE) properties[name] ??= pick(common, name, own);

  const required = readList(at("required"), 0).map((place) => known(readText(place), properties, place));
  for (const field of media) known(field.name, properties, { file: own.file, path: `media.${field.name}` });
  const rest = Object.fromEntries(
    readEntries(own).flatMap(([name, { value }]) =>
      name === "required" || name === "properties" ? [] : [[name, asJson(value)]],
    ),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["model", ...required],
    properties,
    additionalProperties: false,
    ...rest,
  };
}

/** Whether the schema of a create body has a property of this name. */
export function hasProperty(schema: JsonObject, name: string): boolean {
  return isJsonObject(schema.properties) && Object.hasOwn(schema.properties, name);
}

function mediaProperty(place: Place, source: JsonObject): JsonObject {
  const own = readObject(place);
  return own.type === "array" ? { ...own, items: source } : { ...source, ...own };
}

function pick(common: JsonObject, name: string, place: Pick<Place, "file" | "path">): JsonObject {
  const found = common[name];
  if (isJsonObject(found)) return found;
  throw new ManifestError(place, `names "${name}", which shared.yaml does not have`);
}

function known(name: string, properties: JsonObject, place: Pick<Place, "file" | "path">): string {
  if (Object.hasOwn(properties, name)) return name;
  throw new ManifestError(place, `names "${name}", which is no property of the schema`);
}

/** A manifest is YAML read as JSON data, so whatever stands in it is a JSON value. */
function asJson(value: unknown): Json {
  return value as Json;
}
