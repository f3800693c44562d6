import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { ParameterWording } from "../domain/model/wording.ts";
import { composeSchema, hasProperty, sharedNames } from "./create-body.ts";
import { type Manifest, mediaFieldsOf, type WordingForm } from "./manifest.ts";
import { priceProblems } from "./price.ts";
import { didYouMean, type Path, type Problem } from "./problem.ts";

/** What is wrong with a manifest that fits its schema: how its parts do not fit each other. */
export function manifestProblems(manifest: Manifest): Problem[] {
  const mediaFields = mediaFieldsOf(manifest);
  const schema = composeSchema(manifest.schema, manifest.shared ?? [], mediaFields);
  return [
    ...schemaProblems(manifest, schema),
    ...modeProblems(manifest),
    ...priceProblems(manifest.price, { schema, mediaFields }, ["price"]),
    ...manifest.routes.flatMap(({ wording }, i) =>
      wording === undefined ? [] : wordingProblems(manifest, schema, wording, ["routes", i, "wording"]),
    ),
    ...routeProblems(manifest),
  ];
}

function schemaProblems(manifest: Manifest, schema: JsonObject): Problem[] {
  const { shared = [], media = {}, result_input: resultInput } = manifest;
  const unknown = (name: string, path: Path): Problem[] =>
    hasProperty(schema, name)
      ? []
      : [{ path, problem: `names "${name}", which is no property of the schema${near(schema, name)}` }];
  return [
    ...shared.flatMap((name, i) => sharedProblems(manifest, name, ["shared", i])),
    ...manifest.schema.required.flatMap((name, i) => unknown(name, ["schema", "required", i])),
    ...Object.keys(media).flatMap((name) => unknown(name, ["media", name])),
    ...(resultInput === undefined ? [] : ["task_id", "index"])
      .filter((name) => !hasProperty(schema, name))
      .map((name) => ({ path: ["result_input"], problem: `needs the property "${name}" in the schema` })),
  ];
}

function sharedProblems({ schema }: Manifest, name: string, path: Path): Problem[] {
  if (!sharedNames().includes(name)) {
    const problem = `names "${name}", which shared.yaml does not have${didYouMean(name, sharedNames())}`;
    return [{ path, problem }];
  }
  if (!Object.hasOwn(schema.properties, name)) return [];
  return [{ path, problem: `names "${name}", which is also a property of the schema` }];
}

function modeProblems({ modes, media = {}, result_input: resultInput }: Manifest): Problem[] {
  const roles = [...Object.values(media), ...(resultInput ? [resultInput] : [])].map(({ role }) => role);
  return modes.flatMap(({ id, requires }, i) => [
    ...(modes.findIndex((mode) => mode.id === id) === i
      ? []
      : [{ path: ["modes", i, "id"], problem: `is the id of another mode too: "${id}"` }]),
    ...requires.flatMap((role, j) =>
      roles.includes(role)
        ? []
        : [
            {
              path: ["modes", i, "requires", j],
              problem: `names the role "${role}", which no field under media has`,
            },
          ],
    ),
  ]);
}

/** Attempts name their route by provider and upstream model. */
function routeProblems({ routes }: Manifest): Problem[] {
  return routes.flatMap((route, i) => {
    const first = routes.findIndex(
      (other) => other.provider === route.provider && other.upstream_model === route.upstream_model,
    );
    return first === i ? [] : [{ path: ["routes", i], problem: `is routes[${first}] again` }];
  });
}

/** A route that says how its requests are worded has words for every request that the model takes. */
function wordingProblems(manifest: Manifest, schema: JsonObject, wording: WordingForm, at: Path): Problem[] {
  const { parameters = {}, inputs = {} } = wording;
  const roles = Object.values(manifest.media ?? {}).map(({ role }) => role);
  const missing = [...new Set(roles)].filter((role) => !Object.hasOwn(inputs, role));
  return [
    ...endpointProblems(manifest, wording, [...at, "endpoints"]),
    ...(hasProperty(schema, "n") && wording.count === undefined
      ? [{ path: at, problem: 'needs "count": the schema has the property "n"' }]
      : []),
    ...Object.entries(parameters).flatMap(([name, parameter]) =>
      parameterProblems(name, parameter, schema, [...at, "parameters", name]),
    ),
    ...missing.map((role) => ({ path: at, problem: `needs a field for the role "${role}" under inputs` })),
    ...collisions(manifest, wording, at),
  ];
}

function endpointProblems({ modes }: Manifest, { endpoints }: WordingForm, path: Path): Problem[] {
  if (endpoints === undefined) return [];
  const ids = modes.map(({ id }) => id);
  return [
    ...Object.keys(endpoints)
      .filter((id) => !ids.includes(id))
      .map((id) => ({
        path,
        member: id,
        problem: `names "${id}", which is no mode of the model${didYouMean(id, ids)}`,
      })),
    ...ids
      .filter((id) => !Object.hasOwn(endpoints, id))
      .map((id) => ({ path, problem: `lacks the mode "${id}"` })),
  ];
}

function parameterProblems(
  name: string,
  { values }: ParameterWording,
  schema: JsonObject,
  path: Path,
): Problem[] {
  const property = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  if (!isJsonObject(property)) {
    return [{ path, problem: `is no property of the schema${near(schema, name)}` }];
  }
  const choices: readonly Json[] = Array.isArray(property.enum) ? property.enum : [];
  if (values === undefined) return [];
  return choices
    .filter((choice) => !Object.hasOwn(values, String(choice)))
    .map((choice) => ({ path: [...path, "values"], problem: `lacks the value ${JSON.stringify(choice)}` }));
}

/** Fields of the upstream that two things would go into. */
function collisions(manifest: Manifest, wording: WordingForm, at: Path): Problem[] {
  const { prompt = "prompt", count, parameters = {}, inputs = {}, constants = {} } = wording;
  const media = Object.keys(manifest.media ?? {});
  const own = [...Object.keys(manifest.schema.properties), ...(manifest.shared ?? [])]
    .filter((name) => !["model", "prompt", "n", "callback_url", ...media].includes(name))
    .map((name) => parameters[name]?.field ?? name);
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
