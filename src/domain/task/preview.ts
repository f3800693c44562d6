import type { InputType } from "../media/asset.ts";
import type { GenerationRequest } from "./request.ts";

/** Most early versions that a request may ask for, per output. */
export const MAX_PARTIAL_IMAGES = 3;
/** Larger previews are dropped. */
export const MAX_PREVIEW_BYTES = 8 * 1024 * 1024;

export type PreviewType = Extract<InputType, `image/${string}`>;

/** An early version of an output. It is shown while the task runs, and not stored. */
export interface Preview {
  /** The number of this early version of its output, from 0. */
  readonly index: number;
  /** Position of the output among the task's, if the upstream reports it. */
  readonly outputIndex?: number | undefined;
  readonly type: PreviewType;
  readonly bytes: Uint8Array;
}

/** Early versions of each output that a request asks for: its parameter `partial_images`, 0 if absent. */
export function partialImagesOf({
  kind,
  parameters,
}: Pick<GenerationRequest, "kind" | "parameters">): number {
  const { partial_images: wanted } = parameters;
  return kind === "image" && isIndex(wanted, MAX_PARTIAL_IMAGES + 1) ? wanted : 0;
}

/** Checks a preview from an upstream. @returns undefined when it cannot be passed on */
export function readPreview(
  shown: Omit<Preview, "type">,
  of: { readonly wanted: number; readonly outputs: number },
): Preview | undefined {
  const { index, outputIndex, bytes } = shown;
  const type = bytes.length <= MAX_PREVIEW_BYTES ? imageTypeOf(bytes) : undefined;
  if (type === undefined || !isIndex(index, of.wanted)) return undefined;
  if (outputIndex !== undefined && !isIndex(outputIndex, of.outputs)) return undefined;
  return { index, outputIndex, type, bytes };
}

function isIndex(value: unknown, count: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;
}

/** The image type that the first bytes indicate. */
function imageTypeOf(bytes: Uint8Array): PreviewType | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}
