import { isJsonObject, type Json } from "../../domain/json.ts";
import type { ParameterWording } from "../../domain/model/wording.ts";
import { type InputFile, ProviderError, type SubmitRequest } from "../../domain/ports/provider.ts";

/** A request in the words of an upstream. */
export interface WordedRequest {
  /** Path of the endpoint, without a leading slash. */
  readonly endpoint: string;
  /** Fields of the body, except those of the inputs. */
  readonly fields: Readonly<Record<string, Json>>;
  /** The inputs by their fields. One that takes no list has one file. */
  readonly inputs: readonly PlacedInputs[];
}

export interface PlacedInputs {
  readonly field: string;
  readonly isList: boolean;
  readonly files: readonly InputFile[];
}

/** Words all of a request as its route says. @throws ProviderError `reroute` when the upstream has no words for it */
export function wordRequest(submission: SubmitRequest): WordedRequest {
  const { request, upstreamModel, wording = {} } = submission;
  const fields = new Map<string, Json>();
  const add = (field: string, value: Json) => {
    if (fields.has(field)) throw unsayable(`two values for the field "${field}" of ${upstreamModel}`);
    fields.set(field, value);
  };
  for (const [field, value] of Object.entries(wording.constants ?? {})) add(field, value);
  if (request.prompt !== undefined) add(wording.prompt ?? "prompt", request.prompt);
  if (wording.count !== undefined) add(wording.count, request.n);
  else if (request.n !== 1) throw unsayable(`${upstreamModel} makes one output at a time`);
  for (const [name, value] of Object.entries(request.parameters)) {
    const parameter = own(wording.parameters, name) ?? {};
    for (const [field, worded] of wordedFields(name, value, parameter)) add(field, worded);
  }
  const inputs = placeInputs(submission);
  const taken = inputs.find(({ field }) => fields.has(field));
  if (taken !== undefined) throw unsayable(`two values for the field "${taken.field}" of ${upstreamModel}`);
  return { endpoint: endpointOf(submission), fields: Object.fromEntries(fields), inputs };
}

function endpointOf({ upstreamModel, wording, request: { mode } }: SubmitRequest): string {
  if (wording?.endpoints === undefined) return upstreamModel;
  const endpoint = own(wording.endpoints, mode);
  if (endpoint === undefined) throw unsayable(`no endpoint of ${upstreamModel} does ${mode}`);
  return endpoint.startsWith("/") ? upstreamModel + endpoint : endpoint;
}

/** The upstream's fields for a parameter, which is one unless its wording spreads it. @throws ProviderError `reroute` */
export function wordedFields(name: string, value: Json, wording: ParameterWording): [string, Json][] {
  const worded = wordValue(name, value, wording);
  if (wording.spread !== true || !isJsonObject(worded)) return [[wording.field ?? name, worded]];
  return Object.entries(worded).map(([field, part = null]) => [field, part]);
}

/** A value in the words of an upstream. @throws ProviderError `reroute` when it has none */
export function wordValue(name: string, value: Json, { values, template }: ParameterWording): Json {
  if (values === undefined && template === undefined) return value;
  if (typeof value === "object") throw unsayable(`no word for a ${name} that is no scalar`);
  if (template !== undefined) return template.replaceAll("${value}", () => String(value));
  const worded = own(values, String(value));
  if (worded === undefined) throw unsayable(`no word for ${name} ${JSON.stringify(value)}`);
  return worded;
}

/** The inputs by their fields. @throws ProviderError `reroute` when the upstream has none for one */
export function placeInputs({ inputs, upstreamModel, wording }: SubmitRequest): PlacedInputs[] {
  const placed = new Map<string, PlacedInputs>();
  for (const file of inputs) {
    const place = own(wording?.inputs, file.role);
    if (place === undefined) throw unsayable(`${upstreamModel} takes no input that is a ${file.role}`);
    const { field, isList } = place;
    const files = placed.get(field)?.files ?? [];
    if (!isList && files.length > 0) throw unsayable(`${upstreamModel} takes one input as ${field}`);
    placed.set(field, { field, isList, files: [...files, file] });
  }
  return [...placed.values()];
}

function own<Value>(table: { readonly [name: string]: Value } | undefined, name: string): Value | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The error for a value that the upstream has no words for. */
export function unsayable(message: string): ProviderError {
  return new ProviderError("reroute", "NO_ROUTE_AVAILABLE", `The request cannot be worded: ${message}.`);
}
