import type { Json } from "../json.ts";
import type { GenerationRequest, InputRole, MediaInput } from "../task/request.ts";
import type { FieldLimit, Route } from "./model.ts";

/** One thing in a request that a route cannot do exactly. Fields are those of the create body. */
export type Obstacle =
  | { readonly kind: "mode" }
  | { readonly kind: "value"; readonly field: string; readonly given: Json }
  /** The route takes no input of this role at all. */
  | { readonly kind: "input"; readonly field: string }
  | { readonly kind: "files"; readonly field: string; readonly given: number; readonly taken: Bounds };

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Whether a route can do a request exactly, without dropping, rounding or replacing anything. */
export function canTake(route: Route, request: GenerationRequest): boolean {
  return isLimitless(route) || obstaclesOf(route, request).next().done === true;
}

/** Whether a route takes everything that its model takes. Every create asks this, and looking at each field takes longer. */
function isLimitless({ modes, only, wording, takesNoFiles }: Route): boolean {
  return modes === undefined && only === undefined && wording === undefined && takesNoFiles !== true;
}

/** Everything in a request that a route cannot do. */
export function* obstaclesOf(route: Route, request: GenerationRequest): Generator<Obstacle, void> {
  if (!doesMode(route, request.mode)) yield { kind: "mode" };
  for (const [field, given] of valuesOf(request)) {
    if (!takesValue(route, field, given)) yield { kind: "value", field, given };
  }
  yield* inputObstacles(route, request.inputs);
}

/** Whether a route does a mode of its model, judged by the mode alone. */
export function doesMode({ modes, wording }: Route, mode: string): boolean {
  const hasEndpoint = wording?.endpoints === undefined || Object.hasOwn(wording.endpoints, mode);
  return hasEndpoint && (modes === undefined || modes.includes(mode));
}

/** Whether a route takes a value of a field that holds no media. */
export function takesValue(route: Route, field: string, value: Json): boolean {
  const { only, wording } = route;
  // A request that does not say how many outputs it wants gets one.
  if (field === "n" && value === 1 && own(only, field) === false) return true;
  if (!isWithin(own(only, field), value)) return false;
  if (field === "n") return value === 1 || wording === undefined || wording.count !== undefined;
  const { values, template } = own(wording?.parameters, field) ?? {};
  if (values === undefined && template === undefined) return true;
  if (typeof value === "object") return false;
  return values === undefined || Object.hasOwn(values, String(value));
}

/** Whether a route takes inputs of a role that a field names. */
export function takesInput({ only, takesNoFiles, wording }: Route, role: InputRole, field: string): boolean {
  if (takesNoFiles) return false;
  return own(only, field) !== false && (wording === undefined || own(wording.inputs, role) !== undefined);
}

/** How many files of a role a route takes in one field. */
export function filesTaken({ only, wording }: Route, role: InputRole, field: string): Bounds {
  const { least, most } = boundsOf(own(only, field));
  const isList = wording === undefined || own(wording.inputs, role)?.isList === true;
  return { least, most: isList ? most : Math.min(most, 1) };
}

/** The sizes that a limit allows; see FieldLimit. */
export function boundsOf(limit: FieldLimit | undefined): Bounds {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } =
    limit === undefined || limit === false || "enum" in limit ? {} : limit;
  return { least: minimum, most: maximum };
}

export function isWithinBounds(size: number, { least, most }: Bounds): boolean {
  return size >= least && size <= most;
}

function isWithin(limit: FieldLimit | undefined, value: Json): boolean {
  if (limit === undefined) return true;
  if (limit === false) return false;
  if ("enum" in limit) return limit.enum.includes(value);
  const size = sizeOf(value);
  return size === undefined || isWithinBounds(size, boundsOf(limit));
}

/** The size that a limit's bounds apply to. Counts code points, not UTF-16 units, as a person would. */
function sizeOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string") return [...value].length;
  return Array.isArray(value) ? value.length : undefined;
}

function* valuesOf({ prompt, n, parameters }: GenerationRequest): Generator<[field: string, value: Json]> {
  if (prompt !== undefined) yield ["prompt", prompt];
  yield ["n", n];
  yield* Object.entries(parameters);
}

function* inputObstacles(route: Route, inputs: readonly MediaInput[]): Generator<Obstacle, void> {
  const fields = new Map<string, { role: InputRole; count: number }>();
  for (const { role, param } of inputs) {
    const field = fieldOf(param);
    fields.set(field, { role, count: (fields.get(field)?.count ?? 0) + 1 });
  }
  for (const [field, { role, count }] of fields) {
    const taken = filesTaken(route, role, field);
    if (!takesInput(route, role, field)) yield { kind: "input", field };
    else if (!isWithinBounds(count, taken)) yield { kind: "files", field, given: count, taken };
  }
}

/** `image_urls[2]` → `image_urls`. */
function fieldOf(param: string): string {
  return param.replace(/\[\d+\]$/, "");
}

/** Reads an own entry of a table whose names operators chose. */
export function own<Value>(
  table: { readonly [name: string]: Value } | undefined,
  name: string,
): Value | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
