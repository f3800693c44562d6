import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { MediaField, Mode, Model, PriceLine, PriceRule, PriceUnit, Route } from "../domain/model.ts";
import { parseAmount } from "../domain/money.ts";
import type { InputRole, TaskKind } from "../domain/request.ts";
import {
  ManifestError,
  type Place,
  readChoice,
  readCount,
  readEntries,
  readList,
  readMembers,
  readText,
} from "./reading.ts";
import { composeSchema, hasProperty } from "./schema.ts";

const KINDS: readonly TaskKind[] = ["image", "video"];
const UNITS: readonly PriceUnit[] = ["output", "second"];
const ROLES: readonly InputRole[] = [
  "image",
  "mask",
  "first_frame",
  "last_frame",
  "reference",
  "video",
  "motion",
];

/**
 * Reads a catalogue entry. Everything is checked here, also how its parts fit each other, except that `schema` is a valid JSON
 * Schema, which costs a compiler and shows when it is compiled.
 *
 * @param file name for messages
 * @param content what the YAML says
 * @throws ManifestError naming file and field
 */
export function readManifest(file: string, content: unknown): Model {
  const at = readMembers({ file, path: "", value: content }, [
    ...["id", "kind", "name", "description", "modes", "schema", "price", "deadline_seconds", "routes"],
    ...["shared?", "media?", "result_input?"],
  ]);
  const mediaFields = readMedia(at("media"));
  const schema = composeSchema(at("schema"), at("shared"), mediaFields);
  const resultField = readResultInput(at("result_input"), schema);
  const roles = new Set([
    ...mediaFields.map((field) => field.role),
    ...(resultField ? [resultField.role] : []),
  ]);
  return {
    // A manifest is where model ids come from.
    id: readText(at("id")) as ModelId,
    kind: readChoice(at("kind"), KINDS),
    name: readText(at("name")),
    description: readText(at("description")),
    modes: readList(at("modes"), 1).map((place) => readMode(place, roles)),
    schema,
    mediaFields,
    resultField,
    price: readPrice(at("price"), schema),
    deadlineMs: readCount(at("deadline_seconds")) * 1000,
    routes: readList(at("routes"), 1).map(readRoute),
  };
}

function readMedia(place: Place): MediaField[] {
  if (place.value === undefined) return [];
  return readEntries(place).map(([name, field]) => {
    const at = readMembers(field, ["role", "media"]);
    return { name, role: readChoice(at("role"), ROLES), media: readChoice(at("media"), ["image", "video"]) };
  });
}

function readResultInput(place: Place, schema: JsonObject): Model["resultField"] {
  if (place.value === undefined) return undefined;
  for (const name of ["task_id", "index"]) {
    if (!hasProperty(schema, name))
      throw new ManifestError(place, `needs the property "${name}" in the schema`);
  }
  return { role: readChoice(readMembers(place, ["role"])("role"), ROLES) };
}

function readMode(place: Place, roles: ReadonlySet<InputRole>): Mode {
  const at = readMembers(place, ["id", "requires"]);
  const requires = readList(at("requires"), 0).map((required) => {
    const role = readChoice(required, ROLES);
    if (roles.has(role)) return role;
    throw new ManifestError(required, `names the role "${role}", which no field under media has`);
  });
  return { id: readText(at("id")), requires };
}

function readPrice(place: Place, schema: JsonObject): PriceRule {
  const at = readMembers(place, ["version", "lines"]);
  return {
    version: readText(at("version")),
    lines: readList(at("lines"), 1).map((line) => readPriceLine(line, schema)),
  };
}

function readPriceLine(place: Place, schema: JsonObject): PriceLine {
  const at = readMembers(place, ["sku", "unit", "amount", "when?"]);
  const unitMicros = parseAmount(readText(at("amount")));
  if (unitMicros === undefined || unitMicros < 0) {
    throw new ManifestError(at("amount"), 'must be an amount with at most six places, such as "0.010000"');
  }
  const unit = readChoice(at("unit"), UNITS);
  if (unit === "second" && !hasProperty(schema, "duration")) {
    throw new ManifestError(at("unit"), 'needs the property "duration" in the schema');
  }
  const when = at("when").value === undefined ? undefined : readWhen(at("when"), schema);
  return { sku: readText(at("sku")), unit, unitMicros, when };
}

function readWhen(place: Place, schema: JsonObject): PriceLine["when"] {
  const conditions: Record<string, Json> = {};
  for (const [name, { file, path, value }] of readEntries(place)) {
    if (!hasProperty(schema, name)) throw new ManifestError({ file, path }, "is no property of the schema");
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw new ManifestError({ file, path }, "must be a text, a number or a boolean");
    }
    conditions[name] = value;
  }
  return conditions;
}

function readRoute(place: Place): Route {
  const at = readMembers(place, ["provider", "upstream_model"]);
  // Whether a provider of this id is there is known when the service is put together.
  return { provider: readText(at("provider")) as ProviderId, upstreamModel: readText(at("upstream_model")) };
}
