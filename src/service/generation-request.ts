import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { type Model, selectMode } from "../domain/model/model.ts";
import type { GenerationRequest, InputRole, MediaInput } from "../domain/task/request.ts";

/** Fields that are not the model's own parameters. */
const NO_PARAMETERS = new Set([
  ...["model", "prompt", "n", "callback_url", "task_id", "index"],
  "retain_seconds",
]);

const NO_ROLES: ReadonlySet<InputRole> = new Set();

/**
 * Translates a create body that the model's schema accepts into the vocabulary of adapters and prices.
 * @throws AppError `invalid_request` when the inputs fit none of the model's modes
 */
export function toGenerationRequest(
  model: Model,
  body: JsonObject,
  inputs: readonly MediaInput[],
  hops?: number,
): GenerationRequest {
  const { prompt, n, retain_seconds: retainSec } = body;
  const parameters: Record<string, JsonObject[string] & {}> = {};
  // Every create runs this. Copying the rest without the other fields would take ten times as long.
  for (const name of Object.keys(body)) {
    if (NO_PARAMETERS.has(name)) continue;
    const value = body[name];
    const isMedia = model.mediaFields.some((field) => field.name === name);
    if (!isMedia && value !== undefined && value !== null) parameters[name] = value;
  }
  const roles = inputs.length === 0 ? NO_ROLES : new Set(inputs.map((input) => input.role));
  const mode = selectMode(model, roles);
  if (mode === undefined) throw invalid({ kind: "no_mode", model: model.id, modes: model.modes });
  const request: GenerationRequest = {
    kind: model.kind,
    model: model.id,
    mode: mode.id,
    prompt: typeof prompt === "string" ? prompt : undefined,
    n: typeof n === "number" ? n : 1,
    parameters,
    inputs,
  };
  if (hops === undefined && typeof retainSec !== "number") return request;
  return {
    ...request,
    ...(hops !== undefined && { hops }),
    ...(typeof retainSec === "number" && { retainSec }),
  };
}
