import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import {
  boundsOf,
  doesMode,
  filesTaken,
  isWithinBounds,
  takesInput,
  takesValue,
} from "../domain/model/eligibility.ts";
import type { FieldLimit, MediaField, Route } from "../domain/model/model.ts";
import { isWanted } from "../domain/task/routing.ts";
import { createSchemaChecker } from "../toolkit/json-schema.ts";
import type { Path, Problem } from "../toolkit/schema-problems.ts";
import { propertyOf } from "./create-body.ts";
import { type Manifest, mediaFieldsOf, toRoute, toRouteName } from "./manifest.ts";
import { didYouMean, unless } from "./problem.ts";
import { ANNOTATIONS } from "./validate.ts";

/** Properties of every create body that say nothing to an upstream. */
const NOT_FOR_ROUTES = ["model", "callback_url", "retain_seconds"];

/** Names for the least and the most of what a property holds, by its type. */
const BOUNDS: Readonly<Record<string, readonly [least: string, most: string]>> = {
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  string: ["minLength", "maxLength"],
  array: ["minItems", "maxItems"],
};

/** What is wrong with the routes of a manifest, each by itself and all together. `schema` is that of its create body. */
export function routeProblems(manifest: Manifest, schema: JsonObject): Problem[] {
  const own = [
    ...repeatedRoutes(manifest),
    ...overflowProblems(manifest),
    ...manifest.routes.flatMap(({ modes = [], only = {} }, i) => [
      ...modes.flatMap((id, j) => unknownMode(manifest, id, ["routes", i, "modes", j])),
      ...Object.entries(only).flatMap(([name, limit]) =>
        limitProblems(manifest, schema, { name, limit, path: ["routes", i, "only"] }),
      ),
    ]),
  ];
  // That no route takes a value follows from the problem of a single route.
  return own.length > 0 ? own : uncovered(manifest, schema);
}

/** Attempts name their route by provider and upstream model. */
function repeatedRoutes({ routes }: Manifest): Problem[] {
  return routes.flatMap((route, i) => {
    const first = routes.findIndex(
      (other) => other.provider === route.provider && other.upstream_model === route.upstream_model,
    );
    return unless(first === i, ["routes", i], `is routes[${first}] again`);
  });
}

function overflowProblems({ overflow, routes }: Manifest): Problem[] {
  if (overflow === undefined) return [];
  const to = toRouteName(overflow.to);
  const all = routes.map(toRoute);
  const dearer = all.filter((route) => isWanted(to, route));
  const names = all.map(({ provider, upstreamModel }) => `${provider}:${upstreamModel}`);
  const unknown = `names "${overflow.to}", which is no route of the model; its routes: ${names.join(", ")}`;
  const hasCost = overflow.most_cost === undefined || dearer.every(({ cost }) => cost !== undefined);
  return [
    ...unless(dearer.length > 0, ["overflow", "to"], unknown),
    ...unless(
      dearer.length === 0 || dearer.length < all.length,
      ["overflow", "to"],
      `names "${overflow.to}", which is every route of the model; name one of several`,
    ),
    ...unless(hasCost, ["overflow", "most_cost"], `needs the cost of ${overflow.to}, and its route has none`),
  ];
}

function unknownMode({ modes }: Manifest, id: string, path: Path): Problem[] {
  const ids = modes.map((mode) => mode.id);
  const problem = `names "${id}", which is no mode of the model${didYouMean(id, ids)}`;
  return unless(ids.includes(id), path, problem);
}

interface NamedLimit {
  readonly name: string;
  readonly limit: FieldLimit;
  /** Of `only`. */
  readonly path: Path;
}

/** A limit is about a field that there is, and takes nothing that the schema does not. */
function limitProblems(manifest: Manifest, schema: JsonObject, { name, limit, path }: NamedLimit): Problem[] {
  const property = NOT_FOR_ROUTES.includes(name) ? undefined : propertyOf(schema, name);
  if (property === undefined) {
    const names = namesOf(schema);
    const problem = `names "${name}", which is no property of the schema${didYouMean(name, names)}`;
    return [{ path, member: name, problem }];
  }
  if (limit === false) {
    const isAlwaysGiven = name !== "n" && property.default !== undefined;
    const isNeeded = manifest.schema.required.includes(name);
    return unless(
      !isAlwaysGiven && !isNeeded,
      [...path, name],
      `is false, so that the route takes no request: the schema ${isNeeded ? "requires it" : "gives it a default"}`,
    );
  }
  return "enum" in limit
    ? foreignValues(property, limit.enum, [...path, name, "enum"])
    : boundProblems(property, limit, [...path, name]);
}

/**
 * Values that the schema does not allow. One that cannot be compiled is told where the whole of it is. Patterns are not tried: there are
 * some that take seconds with each of thousands of values.
 */
function foreignValues(property: JsonObject, values: readonly Json[], path: Path): Problem[] {
  const checker = createSchemaChecker({ annotations: ANNOTATIONS });
  const plain = JSON.parse(JSON.stringify(property), (key, value) =>
    key === "pattern" || key === "patternProperties" ? undefined : value,
  );
  try {
    checker.prepare(plain);
  } catch {
    return [];
  }
  return values.flatMap((value, i) => {
    const problem = `is ${JSON.stringify(value)}, which the schema does not allow`;
    return unless(checker.violations(plain, value).length === 0, [...path, i], problem);
  });
}

function boundProblems(
  property: JsonObject,
  limit: { readonly minimum?: number | undefined; readonly maximum?: number | undefined },
  path: Path,
): Problem[] {
  const names = BOUNDS[String(property.type)];
  if (names === undefined) return [{ path, problem: "has bounds, but its property has no size" }];
  const [least, most] = names.map((name) => property[name]);
  const { minimum, maximum } = limit;
  const isBelow = minimum !== undefined && typeof least === "number" && minimum < least;
  const isAbove = maximum !== undefined && typeof most === "number" && maximum > most;
  const isEmpty = minimum !== undefined && maximum !== undefined && minimum > maximum;
  return [
    ...unless(!isBelow, [...path, "minimum"], `is ${minimum}, below the ${least} of the schema`),
    ...unless(!isAbove, [...path, "maximum"], `is ${maximum}, above the ${most} of the schema`),
    ...unless(!isEmpty, [...path, "maximum"], `is ${maximum}, below its minimum`),
  ];
}

/** Everything that the schema allows and no route takes. */
function uncovered(manifest: Manifest, schema: JsonObject): Problem[] {
  const routes = manifest.routes.map(toRoute);
  const media = mediaFieldsOf(manifest);
  return [
    ...manifest.modes.flatMap(({ id }, i) =>
      unless(
        routes.some((route) => doesMode(route, id)),
        ["modes", i, "id"],
        `is "${id}", which no route does`,
      ),
    ),
    ...namesOf(schema).flatMap((name) => {
      const property = propertyOf(schema, name) ?? {};
      const field = media.find((each) => each.name === name);
      const path = placeOf(manifest, name);
      return field === undefined
        ? untakenValues(routes, name, property, path)
        : untakenMedia(routes, field, property, path);
    }),
  ];
}

function untakenValues(routes: readonly Route[], name: string, property: JsonObject, path: Path): Problem[] {
  const isTaken = (value: Json) => routes.some((route) => takesValue(route, name, value));
  if (Array.isArray(property.enum)) {
    return property.enum.flatMap((value, i) =>
      unless(isTaken(value), [...path, "enum", i], `is ${JSON.stringify(value)}, which no route takes`),
    );
  }
  if (property.type === "boolean") {
    return [true, false].flatMap((value) =>
      unless(isTaken(value), path, `may be ${value}, which no route takes`),
    );
  }
  if (routes.every(({ only }) => only?.[name] === false))
    return [
      {
        path,
        problem: `${path[0] === "shared" ? `names "${name}", which` : "is a field that"} no route takes`,
      },
    ];
  const hint = name === "n" ? WORDED_COUNT : "";
  return untakenBounds(property, path, hint, (size) =>
    isNumber(property)
      ? isTaken(size)
      : routes.some(({ only }) => only?.[name] !== false && isWithinBounds(size, boundsOf(only?.[name]))),
  );
}

function untakenMedia(
  routes: readonly Route[],
  { name, role }: MediaField,
  property: JsonObject,
  path: Path,
): Problem[] {
  const taking = routes.filter((route) => takesInput(route, role, name));
  if (taking.length === 0)
    return [{ path, problem: `holds an input with the role "${role}", which no route takes${WORDED_ROLES}` }];
  if (property.type !== "array") return [];
  return untakenBounds(property, path, "", (count) =>
    taking.some((route) => isWithinBounds(count, filesTaken(route, role, name))),
  );
}

const WORDED_COUNT =
  '; one with wording takes several outputs only with "count", one with a workflow only with a slot for n';
const WORDED_ROLES = "; one with wording takes only the roles under its inputs";

/** Bounds that lie outside what routes take. */
function untakenBounds(
  property: JsonObject,
  path: Path,
  hint: string,
  isTaken: (size: number) => boolean,
): Problem[] {
  const bounds = BOUNDS[String(property.type)] ?? [];
  return bounds.flatMap((bound) => {
    const size = property[bound];
    const problem = `is ${size}, which no route takes${hint}`;
    return unless(typeof size !== "number" || isTaken(size), [...path, bound], problem);
  });
}

function isNumber({ type }: JsonObject): boolean {
  return type === "integer" || type === "number";
}

/** Where a manifest has a property of its create body. */
function placeOf({ schema, shared = [] }: Manifest, name: string): Path {
  const i = shared.indexOf(name);
  return Object.hasOwn(schema.properties, name) || i === -1 ? ["schema", "properties", name] : ["shared", i];
}

function namesOf({ properties }: JsonObject): string[] {
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return names.filter((name) => !NOT_FOR_ROUTES.includes(name));
}
