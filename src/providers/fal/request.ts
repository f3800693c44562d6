import type { Json } from "../../domain/json.ts";
import { type InputFile, ProviderError, type SubmitRequest } from "../../domain/ports/provider.ts";
import type { InputRole } from "../../domain/task/request.ts";

/** What one of fal's models calls what we call otherwise. */
interface Dialect {
  /** Below the model's name, with and without inputs. */
  readonly endpoint?: { readonly withInputs: string; readonly without: string };
  /** Its name for `n`; absent where it makes one at a time. */
  readonly count?: string;
  /** Its field for each input it takes, a list or not. */
  readonly inputs?: Partial<Record<InputRole, { readonly field: string; readonly isList?: boolean }>>;
  /** Fields that are more than another name for ours; the rest go along as they are. */
  readonly fields?: Readonly<Record<string, (value: Json) => readonly [name: string, value: Json]>>;
}

/** Sides in pixels of at most one megapixel, which is what a picture is priced as; multiples of 16. */
const SIZES: Readonly<Record<string, readonly [width: number, height: number]>> = {
  "1:1": [1024, 1024],
  "4:3": [1152, 864],
  "3:4": [864, 1152],
  "3:2": [1200, 800],
  "2:3": [800, 1200],
  "16:9": [1280, 720],
  "9:16": [720, 1280],
  "21:9": [1344, 576],
  "9:21": [576, 1344],
};

const FLUX: Dialect = { count: "num_images", fields: { aspect_ratio: toImageSize } };
const IMAGE_LIST = { image: { field: "image_urls", isList: true } };

/** By the upstream's name for the model, as manifests give it. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  "fal-ai/flux/schnell": FLUX,
  "fal-ai/flux/dev": FLUX,
  "fal-ai/flux-pro/kontext": { count: "num_images", inputs: { image: { field: "image_url" } } },
  "fal-ai/nano-banana": {
    endpoint: { without: "", withInputs: "/edit" },
    count: "num_images",
    inputs: IMAGE_LIST,
  },
  "fal-ai/kling-video/v3/standard": {
    endpoint: { without: "/text-to-video", withInputs: "/image-to-video" },
    inputs: { first_frame: { field: "start_image_url" }, last_frame: { field: "end_image_url" } },
    fields: { duration: (seconds) => ["duration", String(seconds)] },
  },
  "fal-ai/veo3": {
    endpoint: { without: "", withInputs: "/image-to-video" },
    inputs: { first_frame: { field: "image_url" } },
    fields: { duration: (seconds) => ["duration", `${seconds}s`] },
  },
};

/** Names of the models this adapter speaks to. */
export const FAL_MODELS: readonly string[] = Object.keys(DIALECTS);

/** Of all inputs together, as they are: they go along inside the request. */
const INLINE_MAX_BYTES = 48 * 1024 * 1024;

/** Translates a request into the input of one of fal's endpoints. Nothing that was asked for is left out. */
export async function toUpstreamRequest(
  submission: SubmitRequest,
): Promise<{ readonly endpoint: string; readonly input: Readonly<Record<string, Json>> }> {
  const { request, inputs, upstreamModel } = submission;
  const dialect = Object.hasOwn(DIALECTS, upstreamModel) ? DIALECTS[upstreamModel] : undefined;
  if (dialect === undefined) throw notTaken(`fal: no model "${upstreamModel}" is known here`);
  const input: Record<string, Json> = {};
  if (request.prompt !== undefined) input.prompt = request.prompt;
  if (dialect.count !== undefined) input[dialect.count] = request.n;
  else if (request.n !== 1) throw notTaken(`fal: ${upstreamModel} makes one at a time`);
  for (const [name, value] of Object.entries(request.parameters)) {
    const translate = dialect.fields?.[name];
    const [field, translated] = translate === undefined ? [name, value] : translate(value);
    input[field] = translated;
  }
  Object.assign(input, await toFields(dialect, inputs, upstreamModel));
  const { endpoint } = dialect;
  const suffix = (inputs.length > 0 ? endpoint?.withInputs : endpoint?.without) ?? "";
  return { endpoint: upstreamModel + suffix, input };
}

async function toFields(
  dialect: Dialect,
  inputs: readonly InputFile[],
  upstreamModel: string,
): Promise<Record<string, Json>> {
  const sizeBytes = inputs.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (sizeBytes > INLINE_MAX_BYTES) {
    const most = `${INLINE_MAX_BYTES / 1024 / 1024} MB`;
    throw new ProviderError("reroute", "INPUT_INVALID", `fal: ${sizeBytes} bytes of inputs go along inline`, {
      publicMessage: `The inputs are larger than ${most} together, more than the provider takes.`,
    });
  }
  const fields: Record<string, Json> = {};
  for (const file of inputs) {
    const place = dialect.inputs?.[file.role];
    if (place === undefined) throw notTaken(`fal: ${upstreamModel} takes no input that is a ${file.role}`);
    const uri = `data:${file.type};base64,${Buffer.from(await file.content.arrayBuffer()).toString("base64")}`;
    const others = fields[place.field];
    if (place.isList === true) fields[place.field] = Array.isArray(others) ? [...others, uri] : [uri];
    else if (others === undefined) fields[place.field] = uri;
    else throw notTaken(`fal: ${upstreamModel} takes one input that is a ${file.role}`);
  }
  return fields;
}

function toImageSize(ratio: Json): readonly [string, Json] {
  const size = typeof ratio === "string" && Object.hasOwn(SIZES, ratio) ? SIZES[ratio] : undefined;
  if (size === undefined) throw notTaken(`fal: no size of the proportions ${JSON.stringify(ratio)}`);
  const [width, height] = size;
  return ["image_size", { width, height }];
}

function notTaken(message: string): ProviderError {
  return new ProviderError("reroute", "UPSTREAM_REJECTED", message);
}
