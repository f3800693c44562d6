import type { Json, JsonObject } from "../domain/json.ts";
import { type MediaField, type Mode, type Model, selectMode } from "../domain/model/model.ts";
import { propertyOf } from "./create-body.ts";

/** A body completed with stand-ins for what the caller left out. */
export interface Completion {
  readonly body: JsonObject;
  /** The mode of such a request. */
  readonly mode: string;
  /** The fields that have stand-ins. */
  readonly standIns: readonly string[];
}

/** Valid as any prompt and as the address of any file. */
const STAND_IN = "x:";

/**
 * Completes a body that may lack prompt and media: with what the model always requires, then with the media of each mode, simplest
 * first. Yields only bodies that fit a mode.
 */
export function* completionsOf(model: Model, given: JsonObject): Generator<Completion> {
  const essential = requiredOf(model).filter((name) => name === "prompt" || mediaField(model, name));
  const always = essential.filter((name) => !Object.hasOwn(given, name));
  const modes = [...model.modes].sort((a, b) => a.requires.length - b.requires.length);
  const tried = new Set<string>();
  for (const media of [
    [],
    ...modes.map((mode) => mediaFor(model, mode, [...Object.keys(given), ...always])),
  ]) {
    const standIns = [...always, ...media];
    const id = standIns.join();
    const mode = selectMode(model, rolesOf(model, [...Object.keys(given), ...standIns]));
    if (tried.has(id) || mode === undefined) continue;
    tried.add(id);
    yield {
      mode: mode.id,
      body: { ...given, ...Object.fromEntries(standIns.map((name) => [name, standIn(model, name)])) },
      standIns,
    };
  }
}

/** The roles that fields of these names fill. */
function rolesOf(model: Model, names: readonly string[]): Set<MediaField["role"]> {
  const roles = new Set(names.flatMap((name) => mediaField(model, name)?.role ?? []));
  if (model.resultField !== undefined && names.includes("task_id")) roles.add(model.resultField.role);
  return roles;
}

/** The fields to add for a mode. */
function mediaFor(model: Model, mode: Mode, names: readonly string[]): string[] {
  const roles = rolesOf(model, names);
  return mode.requires
    .filter((role) => !roles.has(role))
    .flatMap((role) => model.mediaFields.find((field) => field.role === role)?.name ?? []);
}

function mediaField(model: Model, name: string): MediaField | undefined {
  return model.mediaFields.find((field) => field.name === name);
}

function requiredOf(model: Model): string[] {
  const { required } = model.schema;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function standIn(model: Model, name: string): Json {
  const property = propertyOf(model.schema, name);
  if (property?.type !== "array") return STAND_IN;
  return Array<string>(Number(property.minItems ?? 1)).fill(STAND_IN);
}
