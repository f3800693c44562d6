import { type Json, type JsonObject, propertyOf } from "../json.ts";
import type { GenerationRequest } from "../task/request.ts";
import type { Demand } from "../words/demand.ts";
import type { Given } from "../words/say.ts";
import type { Facts } from "../words/words.ts";
import {
  type Bounds,
  boundsOf,
  doesMode,
  type Obstacle,
  obstaclesOf,
  own,
  takesValue,
} from "./eligibility.ts";
import type { Model, Route } from "./model.ts";

/**
 * Why none of these routes can do a request: the field to change, and what works in its place. Looks at the routes that support
 * its mode, if there are any. Prefers an obstacle that is the only one for some route, so that one change suffices.
 *
 * @param routes the usable routes of the model; none of them can do the request
 */
export function unrouted(model: Model, routes: readonly Route[], request: GenerationRequest): Facts {
  const ofMode = routes.filter((route) => doesMode(route, request.mode));
  const hindered = (ofMode.length > 0 ? ofMode : routes).map((route) => ({
    route,
    obstacles: [...obstaclesOf(route, request)],
  }));
  const fewest = Math.min(...hindered.map(({ obstacles }) => obstacles.length));
  const nearest = hindered.filter(({ obstacles }) => obstacles.length === fewest);
  const obstacle = nearest[0]?.obstacles[0];
  if (obstacle === undefined)
    throw new Error(`A route of ${model.id} can do this request, or there is none.`);
  const alike = nearest.filter(({ obstacles: [first] }) => first !== undefined && isSame(first, obstacle));
  return factsOf(model, request, obstacle, {
    routes: alike.map(({ route }) => route),
    obstacles: alike.flatMap(({ obstacles: [first] }) => first ?? []),
  });
}

/** Routes that share an obstacle, and their obstacles. */
interface Alike {
  readonly routes: readonly Route[];
  readonly obstacles: readonly Obstacle[];
}

function isSame(one: Obstacle, other: Obstacle): boolean {
  const fieldOf = (obstacle: Obstacle) => ("field" in obstacle ? obstacle.field : undefined);
  return one.kind === other.kind && fieldOf(one) === fieldOf(other);
}

function factsOf(model: Model, request: GenerationRequest, obstacle: Obstacle, alike: Alike): Facts {
  const { id } = model;
  switch (obstacle.kind) {
    case "mode":
      return modeFacts(model, alike.routes, request);
    case "input":
      return { kind: "unrouted_field", field: obstacle.field, model: id };
    case "files": {
      const { field, given } = obstacle;
      const taken = alike.obstacles.flatMap((each) => (each.kind === "files" ? each.taken : []));
      return { kind: "unrouted_value", field, model: id, must: { many: "entries", ...spanOf(taken) }, given };
    }
    case "value": {
      const { field, given } = obstacle;
      const must = demandOf(model, alike.routes, field, given);
      if (must === undefined) return { kind: "unrouted_field", field, model: id };
      return { kind: "unrouted_value", field, model: id, must, given: givenOf(must, given) };
    }
  }
}

/** The inputs make a mode that no route supports. Names an input that is not wanted, or one that is missing. */
function modeFacts(model: Model, routes: readonly Route[], { mode, inputs }: GenerationRequest): Facts {
  const modes = model.modes.filter(({ id }) => routes.some((route) => doesMode(route, id)));
  const roles = modes.flatMap(({ requires }) => requires);
  const surplus = inputs.find(({ role }) => !roles.includes(role))?.param;
  const missing = roles.filter((role) => !inputs.some((input) => input.role === role));
  const field =
    surplus ?? model.mediaFields.find(({ role }) => missing.includes(role))?.name ?? inputs[0]?.param;
  return { kind: "unrouted_mode", field, model: model.id, mode, modes };
}

/** What a value must be so that one of the routes takes it; undefined if no route takes the field. */
function demandOf(model: Model, routes: readonly Route[], field: string, given: Json): Demand | undefined {
  const takes = (value: Json) => routes.some((route) => takesValue(route, field, value));
  const choices = field === "n" ? COUNTS : choicesOf(propertyOf(model.schema, field));
  if (choices !== undefined) {
    const taken = choices.filter(takes);
    return taken.length === 0 ? undefined : { anyOf: taken };
  }
  const limits = routes.map(({ only }) => own(only, field));
  const named = limits.flatMap((limit) => (limit && "enum" in limit ? limit.enum : []));
  const worded = routes.flatMap(({ wording }) => Object.keys(own(wording?.parameters, field)?.values ?? {}));
  if (named.length + worded.length > 0) return { anyOf: [...new Set([...named, ...worded])] };
  const bounded = limits.filter((limit) => limit !== undefined && limit !== false);
  return bounded.length === 0 ? undefined : { many: countedIn(given), ...spanOf(bounded.map(boundsOf)) };
}

/** Every number of outputs that a request can ask for. */
const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

function choicesOf(property: JsonObject | undefined): readonly Json[] | undefined {
  if (property?.type === "boolean") return [true, false];
  return Array.isArray(property?.enum) ? property.enum : undefined;
}

function spanOf(bounds: readonly Bounds[]): { least?: number; most?: number } {
  const least = Math.min(...bounds.map((each) => each.least));
  const most = Math.max(...bounds.map((each) => each.most));
  return { ...(Number.isFinite(least) && { least }), ...(Number.isFinite(most) && { most }) };
}

function countedIn(value: Json): "value" | "characters" | "entries" {
  if (typeof value === "string") return "characters";
  return Array.isArray(value) ? "entries" : "value";
}

/** The value that was given, or its size if the size is wrong. */
function givenOf(must: Demand, given: Json): Given {
  if ("many" in must && typeof given === "string") return [...given].length;
  if ("many" in must && Array.isArray(given)) return given.length;
  return typeof given === "object" && given !== null ? { json: given } : given;
}
