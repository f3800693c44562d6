import type { Json, JsonObject } from "../../domain/json.ts";
import type { ParameterWording } from "../../domain/model/wording.ts";
import type { InputFile, SubmitRequest } from "../../domain/ports/provider.ts";
import { breakingOrders } from "../kit/prompt-escapes.ts";
import { unsayable, wordedFields, wordValue } from "../kit/wording.ts";

/** A call of the API: path and body. */
export interface SdCall {
  readonly path: string;
  readonly content: JsonObject;
  /** That of its pictures, `1024x768`, where the request says it and nothing in the call changes it. */
  readonly size?: string | undefined;
}

/** The same call with a checkpoint, unless the route names one among its settings. */
export function withCheckpoint(call: SdCall, title: string): SdCall {
  const { content } = call;
  const settings = isSettings(content.override_settings) ? content.override_settings : {};
  return { ...call, content: { ...content, override_settings: { sd_model_checkpoint: title, ...settings } } };
}

/** What the API calls our parameters. Those that are not here keep their names. */
const FIELDS: Readonly<Record<string, string>> = {
  sampler: "sampler_name",
  guidance: "distilled_cfg_scale",
  strength: "denoising_strength",
};
/** Settings of the server, said for one request alone. */
const SETTINGS: Readonly<Record<string, string>> = { clip_skip: "CLIP_stop_at_last_layers" };
/** What sd-server, which speaks this API too, would read as arguments of its own. */
const ARGUMENTS = ["<sd_cpp_extra_args"];
/** What loads a file of the server. */
const NETWORKS = ["<lora:", "<lyco:", "<hypernet:"];
const breakArguments = breakingOrders(ARGUMENTS);
const breakAll = breakingOrders([...ARGUMENTS, ...NETWORKS]);
/** Sizes are multiples of it; others are rounded without a word. */
const GRAIN = 8;

/**
 * Translates a request: anew from an image where there is one, else from the prompt. A route's `constants` are fields of every request;
 * they count before what is said here of themselves. Words in a prompt load no files of the server, unless the route lets them.
 *
 * @throws ProviderError `reroute` for what the API has no words for
 */
export async function toSdCall(submission: SubmitRequest): Promise<SdCall> {
  const { inputs, wording, attempt } = submission;
  const { constants = {} } = wording ?? {};
  const mayLoad = constants.disable_extra_networks === false;
  const { request } = (mayLoad ? breakArguments : breakAll)(submission);
  const settings: Record<string, Json> = { return_grid: false };
  const fields: Record<string, Json> = { disable_extra_networks: true, ...constants };
  if (request.prompt !== undefined) fields[wording?.prompt ?? "prompt"] = request.prompt;
  // One after the other, because together they would need the memory of all.
  Object.assign(fields, { [wording?.count ?? "n_iter"]: request.n });
  Object.assign(fields, await fieldsOfInputs(inputs));
  for (const [name, value] of Object.entries(request.parameters))
    place(name, value, own(wording?.parameters, name) ?? {}, { fields, settings });
  const given = fields.override_settings;
  fields.override_settings = { ...settings, ...(isSettings(given) ? given : {}) };
  fields.force_task_id = attempt;
  const path = fields.init_images === undefined ? "/sdapi/v1/txt2img" : "/sdapi/v1/img2img";
  return { path, content: fields, size: sizeMade(request.parameters, inputs, fields) };
}

/**
 * The size that was asked for, unless pictures are enlarged afterwards, by a script or as a second pass. One that is drawn anew under
 * a mask may keep the size of its image.
 */
function sizeMade(
  { size }: JsonObject,
  inputs: readonly InputFile[],
  { width, height, enable_hr: isEnlarged, script_name: script }: JsonObject,
): string | undefined {
  const asked = `${width}x${height}`;
  if (size === undefined || isEnlarged === true || script !== undefined) return undefined;
  const hasMask = inputs.some(({ role }) => role === "mask");
  const isImages = inputs.some((file) => file.role === "image" && `${file.width}x${file.height}` === asked);
  return size === asked && (!hasMask || isImages) ? asked : undefined;
}

interface Places {
  readonly fields: Record<string, Json>;
  readonly settings: Record<string, Json>;
}

function place(name: string, value: Json, wording: ParameterWording, { fields, settings }: Places): void {
  if (wording.spread === true) {
    for (const [field, part] of wordedFields(name, value, wording)) fields[field] = part;
    return;
  }
  const worded = wordValue(name, value, wording);
  if (name === "size" && wording.field === undefined) {
    const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(String(worded)) ?? [];
    if (width === undefined) throw unsayable(`size ${JSON.stringify(worded)} is no WIDTHxHEIGHT`);
    if (Number(width) % GRAIN !== 0 || Number(height) % GRAIN !== 0)
      throw unsayable(`size ${width}x${height} is not in multiples of ${GRAIN}`);
    Object.assign(fields, { width: Number(width), height: Number(height) });
    return;
  }
  const setting = wording.field === undefined ? own(SETTINGS, name) : undefined;
  if (setting !== undefined) settings[setting] = worded;
  else fields[wording.field ?? own(FIELDS, name) ?? name] = worded;
}

/** The image to draw anew, with its own size unless the request has one, and what may change of it in white. */
async function fieldsOfInputs(inputs: readonly InputFile[]): Promise<JsonObject> {
  const images = inputs.filter(({ role }) => role === "image");
  const masks = inputs.filter(({ role }) => role === "mask");
  const other = inputs.find(({ role }) => role !== "image" && role !== "mask");
  if (other !== undefined) throw unsayable(`the API takes no input that is a ${other.role}`);
  const [image] = images;
  if (image === undefined && masks.length === 0) return {};
  if (image === undefined || images.length > 1 || masks.length > 1)
    throw unsayable("the API takes one image, and one mask with it");
  const [mask] = masks;
  const content = mask && ((await mask.painted?.("white")) ?? mask.content);
  return {
    init_images: [await base64(image.content)],
    ...sizeOf(image),
    ...(content && { mask: await base64(content) }),
  };
}

function sizeOf({ width, height }: InputFile): JsonObject {
  if (width === undefined || height === undefined) return {};
  return { width: toGrain(width), height: toGrain(height) };
}

function toGrain(length: number): number {
  return Math.max(GRAIN, Math.round(length / GRAIN) * GRAIN);
}

async function base64(content: Blob): Promise<string> {
  return Buffer.from(await content.arrayBuffer()).toString("base64");
}

function isSettings(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own<Value>(table: { readonly [name: string]: Value } | undefined, name: string): Value | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
