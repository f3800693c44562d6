import type { Json } from "../../domain/json.ts";
import type { Size } from "../../domain/media/size.ts";
import type { InputRole } from "../../domain/task/request.ts";
import { hashText } from "../../studio/random.ts";
import type {
  EditJob,
  EnlargeJob,
  ImageFormat,
  ImageSource,
  PictureJob,
  RenderJob,
  VideoJob,
} from "../../studio/render-job.ts";
import { imageDimensions, videoDimensions } from "./dimensions.ts";
import type { Spec } from "./spec.ts";

const FORMATS: readonly ImageFormat[] = ["png", "jpeg", "webp"];
const IMAGE_ROLES: readonly InputRole[] = ["image", "first_frame", "last_frame", "reference"];
const DEFAULT_SECONDS = 4;
/** Seeds are 32 bits. */
const SEEDS = 2 ** 32;

/** An input of a submission: an image by the path of its file, a video by its bytes. */
export type RenderInput = { readonly image: ImageSource } | { readonly video: Uint8Array };

/** Builds the job that renders output `index` of a submission; `files` are its inputs, in order. Equal arguments give equal jobs. */
export function toRenderJob(spec: Spec, index: number, files: readonly RenderInput[]): RenderJob {
  const byRole = (role: InputRole) => files.filter((_, i) => spec.inputs[i] === role);
  if (spec.generator === "upscale") return enlargeJob(spec, index, byRole);
  return spec.generator === "picture" ? imageJob(spec, index, byRole) : videoJob(spec, index, byRole);
}

type ByRole = (role: InputRole) => RenderInput[];

const imageOf = (input: RenderInput) => ("image" in input ? [input.image] : []);
const videoOf = (input: RenderInput) => ("video" in input ? [input.video] : []);

function imageJob(spec: Spec, index: number, byRole: ByRole): PictureJob | EditJob {
  const { parameters, prompt, label } = spec;
  const wanted = sizeOf(spec);
  const format = formatOf(parameters);
  const common = { prompt, seed: seedOf(spec), index, format, label };
  const inputs = byRole("image").flatMap(imageOf);
  if (inputs.length === 0)
    return { kind: "picture", ...common, ...(wanted ?? { width: 1024, height: 1024 }) };
  const mask = byRole("mask").flatMap(imageOf)[0];
  return { kind: "edit", ...common, inputs, inputPixels: spec.inputPixels, mask, ...wanted };
}

/** The size of a picture; undefined where the request leaves it to the input, or to the sandbox. */
export function sizeOf({ parameters }: Spec): Size | undefined {
  return imageDimensions({
    size: text(parameters.size),
    aspectRatio: text(parameters.aspect_ratio),
    resolution: text(parameters.resolution),
  });
}

function enlargeJob(spec: Spec, index: number, byRole: ByRole): EnlargeJob {
  const { parameters, inputPixels, prompt, label } = spec;
  const [input] = byRole("image").flatMap(imageOf);
  if (input === undefined) throw new Error("An image to enlarge is missing.");
  const format = formatOf(parameters);
  const common = { prompt, seed: seedOf(spec), index, format, label };
  return { kind: "enlarge", ...common, input, inputPixels, factor: parameters.factor === 4 ? 4 : 2 };
}

function formatOf({ output_format: wanted }: Spec["parameters"]): ImageFormat {
  return FORMATS.find((each) => each === wanted) ?? "png";
}

function videoJob(spec: Spec, index: number, byRole: ByRole): VideoJob {
  const { parameters, prompt, label } = spec;
  const images = IMAGE_ROLES.flatMap(byRole).flatMap(imageOf);
  const [video] = [...byRole("video"), ...byRole("motion")].flatMap(videoOf);
  const isEdit = spec.generator === "video-edit";
  const size = isEdit
    ? { width: 0, height: 0 }
    : videoDimensions(text(parameters.resolution), text(parameters.aspect_ratio));
  return {
    kind: "video",
    mode: videoMode(spec, images.length),
    prompt,
    // A video job has no index.
    seed: (seedOf(spec) + index) % SEEDS,
    durationSec: typeof parameters.duration === "number" ? parameters.duration : DEFAULT_SECONDS,
    ...size,
    images,
    ...(video === undefined ? {} : { video }),
    label,
  };
}

function videoMode(spec: Spec, images: number): VideoJob["mode"] {
  switch (spec.generator) {
    case "video-frames":
      return "frames";
    case "video-reference":
      return "reference";
    case "video-edit":
      return spec.parameters.operation === "extend" ? "extend" : "edit";
    case "video-motion":
      return "motion";
    case "video":
    case "picture":
    case "upscale":
      if (images === 0) return "text";
      return images === 1 ? "image" : "frames";
  }
}

function seedOf(spec: Spec): number {
  const { seed } = spec.parameters;
  return typeof seed === "number" ? seed : hashText(spec.prompt) >>> 0;
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
