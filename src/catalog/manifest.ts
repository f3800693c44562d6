import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { MediaField, Mode, Model, Route } from "../domain/model/model.ts";
import type { InputRole, TaskKind } from "../domain/task/request.ts";
import { readPrice } from "./price.ts";
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
    price: readPrice(at("price"), { schema, mediaFields }),
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

function readRoute(place: Place): Route {
  const at = readMembers(place, ["provider", "upstream_model", "cost?"]);
  const isCharged = at("cost").value === undefined ? undefined : readChoice(at("cost"), ["list"]) === "list";
  // Whether a provider of this id is there is known when the service is put together.
  const provider = readText(at("provider")) as ProviderId;
  return { provider, upstreamModel: readText(at("upstream_model")), isCharged };
}
