import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { FOLLOW_UPS } from "../domain/model/follow-up.ts";
import { sourceField } from "../domain/model/source-field.ts";
import type { ParameterWording } from "../domain/model/wording.ts";
import type { Path, Problem } from "../toolkit/schema-problems.ts";
import { composeSchema, hasProperty, sharedNames } from "./create-body.ts";
import { type Manifest, mediaFieldsOf, type RouteForm, type WordingForm } from "./manifest.ts";
import { priceProblems } from "./price.ts";
import { didYouMean, unless } from "./problem.ts";
import { routeProblems } from "./route-problems.ts";
import { workflowProblems } from "./workflow-problems.ts";

/** Problems of a manifest that fits its schema: parts that do not fit each other. */
export function manifestProblems(manifest: Manifest): Problem[] {
  const mediaFields = mediaFieldsOf(manifest);
  const schema = composeSchema(manifest.schema, manifest.shared ?? [], mediaFields);
  return [
    ...schemaProblems(manifest, schema),
    ...modeProblems(manifest),
    ...followUpProblems(manifest, schema),
    ...priceProblems(manifest.price, { schema, mediaFields, modes: manifest.modes }, ["price"]),
    ...manifest.routes.flatMap((route, i) => [
      ...wordingProblems(manifest, schema, route, ["routes", i, "wording"]),
      ...workflowProblems(manifest, schema, route, ["routes", i, "workflow"]),
      ...(typeof route.cost === "object"
        ? priceProblems(route.cost, { schema, mediaFields, modes: manifest.modes }, ["routes", i, "cost"])
        : []),
    ]),
    ...routeProblems(manifest, schema),
  ];
}

function schemaProblems(manifest: Manifest, schema: JsonObject): Problem[] {
  const { shared = [], media = {}, always = {}, result_input: resultInput } = manifest;
  const has = (name: string) => hasProperty(schema, name);
  const unknown = (name: string, path: Path) =>
    unless(has(name), path, `names "${name}", which is no property of the schema${near(schema, name)}`);
  return [
    ...shared.flatMap((name, i) => sharedProblems(manifest, name, ["shared", i])),
    ...manifest.schema.required.flatMap((name, i) => unknown(name, ["schema", "required", i])),
    ...Object.keys(media).flatMap((name) => unknown(name, ["media", name])),
    ...Object.keys(always).flatMap((name) =>
      unless(!has(name), ["always", name], "is a property of the schema, which says what it may be"),
    ),
    ...["task_id", "index"].flatMap((name) =>
      unless(
        resultInput === undefined || has(name),
        ["result_input"],
        `needs the property "${name}" in the schema`,
      ),
    ),
  ];
}

function sharedProblems({ schema }: Manifest, name: string, path: Path): Problem[] {
  if (!sharedNames().includes(name)) {
    const problem = `names "${name}", which shared.yaml does not have${didYouMean(name, sharedNames())}`;
    return [{ path, problem }];
  }
  const isOwn = Object.hasOwn(schema.properties, name);
  return unless(!isOwn, path, `names "${name}", which is also a property of the schema`);
}

function modeProblems({ modes, media = {}, result_input: resultInput }: Manifest): Problem[] {
  const roles = [...Object.values(media), ...(resultInput ? [resultInput] : [])].map(({ role }) => role);
  return modes.flatMap(({ id, requires }, i) => [
    ...unless(
      modes.findIndex((mode) => mode.id === id) === i,
      ["modes", i, "id"],
      `is the id of another mode too: "${id}"`,
    ),
    ...requires.flatMap((role, j) => {
      const problem = `names the role "${role}", which no field under media has`;
      return unless(roles.includes(role), ["modes", i, "requires", j], problem);
    }),
  ]);
}

function followUpProblems(manifest: Manifest, schema: JsonObject): Problem[] {
  const { follow_ups: given = {}, kind } = manifest;
  return FOLLOW_UPS.flatMap((name) => {
    const fields = given[name];
    if (fields === undefined) return [];
    const path = ["follow_ups", name];
    const role = name === "extend" || kind === "video" ? "video" : "image";
    const takes = sourceField(mediaFieldsOf(manifest), name, kind) !== undefined;
    return [
      ...unless(name !== "extend" || kind === "video", path, "is for models that make videos"),
      ...unless(takes, path, `needs a field of the role "${role}" under media`),
      ...Object.keys(fields).flatMap((field) =>
        unless(
          hasProperty(schema, field),
          [...path, field],
          `is no property of the schema${near(schema, field)}`,
        ),
      ),
    ];
  });
}

/** A route does not take a value for which its wording has no words. routeProblems finds values that no route takes. */
function wordingProblems(
  manifest: Manifest,
  schema: JsonObject,
  { wording, only = {} }: RouteForm,
  at: Path,
): Problem[] {
  if (wording === undefined) return [];
  const untaken = Object.keys(only).filter((name) => only[name] === false);
  return [
    ...endpointProblems(manifest, wording, [...at, "endpoints"]),
    ...Object.keys(wording.parameters ?? {}).flatMap((name) => {
      const problem = `is no property of the schema${near(schema, name)}`;
      return unless(hasProperty(schema, name), [...at, "parameters", name], problem);
    }),
    ...collisions(manifest, wording, untaken, at),
  ];
}

function endpointProblems({ modes }: Manifest, { endpoints = {} }: WordingForm, path: Path): Problem[] {
  const ids = modes.map(({ id }) => id);
  return Object.keys(endpoints)
    .filter((id) => !ids.includes(id))
    .map((id) => ({
      path,
      member: id,
      problem: `names "${id}", which is no mode of the model${didYouMean(id, ids)}`,
    }));
}

/** The upstream's fields that a parameter can go into. */
function fieldsOf(name: string, { field, spread, values = {} }: ParameterWording = {}): string[] {
  if (spread !== true) return [field ?? name];
  return [
    ...new Set(Object.values(values).flatMap((parts) => (isJsonObject(parts) ? Object.keys(parts) : []))),
  ];
}

/** Fields of the upstream that two things would go into. */
function collisions(
  manifest: Manifest,
  wording: WordingForm,
  untaken: readonly string[],
  at: Path,
): Problem[] {
  const { prompt = "prompt", count, parameters = {}, inputs = {}, constants = {} } = wording;
  const media = Object.keys(manifest.media ?? {});
  const own = [...Object.keys(manifest.schema.properties), ...(manifest.shared ?? [])]
    .filter((name) => !["model", "prompt", "n", "callback_url", ...media, ...untaken].includes(name))
    .flatMap((name) => fieldsOf(name, parameters[name]));
  const hasPrompt = Object.hasOwn(manifest.schema.properties, "prompt");
  const fields = [
    ...Object.keys(constants),
    ...(hasPrompt ? [prompt] : []),
    ...(count === undefined ? [] : [count]),
    ...own,
    ...new Set(Object.values(inputs).map(({ field }) => field)),
  ];
  const twice = new Set(fields.filter((field, i) => fields.indexOf(field) !== i));
  return [...twice].map((field) => ({ path: at, problem: `has two values for the field "${field}"` }));
}

function near({ properties }: JsonObject, name: string): string {
  return didYouMean(name, isJsonObject(properties) ? Object.keys(properties) : []);
}
