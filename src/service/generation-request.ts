import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { type Model, selectMode } from "../domain/model/model.ts";
import type { GenerationRequest, MediaInput } from "../domain/task/request.ts";

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
  const {
    model: _model,
    prompt,
    n,
    callback_url: _callback,
    task_id: _task,
    index: _index,
    ...others
  } = body;
  const { retain_seconds: retainSec, ...rest } = others;
  const parameters: Record<string, JsonObject[string] & {}> = {};
  for (const [name, value] of Object.entries(rest)) {
    const isMedia = model.mediaFields.some((field) => field.name === name);
    if (!isMedia && value !== undefined && value !== null) parameters[name] = value;
  }
  const roles = new Set(inputs.map((input) => input.role));
  const mode = selectMode(model, roles);
  if (mode === undefined) throw invalid({ kind: "no_mode", model: model.id, modes: model.modes });
  return {
    kind: model.kind,
    model: model.id,
    mode: mode.id,
    prompt: typeof prompt === "string" ? prompt : undefined,
    n: typeof n === "number" ? n : 1,
    parameters,
    inputs,
    ...(hops === undefined ? {} : { hops }),
    ...(typeof retainSec === "number" && { retainSec }),
  };
}
