import { TASK_ERROR_CODES, type TaskErrorCode } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import type { SubmitRequest } from "../../domain/ports/provider.ts";
import type { InputRole } from "../../domain/task/request.ts";

/** This upstream's names of its generators. */
export const GENERATORS = [
  "picture",
  "upscale",
  "video",
  "video-frames",
  "video-reference",
  "video-edit",
  "video-motion",
] as const;
export type Generator = (typeof GENERATORS)[number];

/** A submission as the upstream stores it: enough to render its outputs again at any time, byte for byte. */
export interface Spec {
  readonly generator: Generator;
  /** Shown in the corner of every output. */
  readonly label: string;
  readonly prompt: string;
  readonly outputs: number;
  readonly parameters: { readonly [name: string]: Json };
  /** One for each input file, in order. */
  readonly inputs: readonly InputRole[];
  /** Of the largest input; absent in records of earlier versions. */
  readonly inputPixels?: number | undefined;
}

/** @returns undefined when the upstream has no generator of this name */
export function toSpec(submission: SubmitRequest): Spec | undefined {
  const { request, inputs, upstreamModel } = submission;
  const generator = GENERATORS.find((name) => name === upstreamModel);
  if (generator === undefined) return undefined;
  return {
    generator,
    label: request.model,
    prompt: request.prompt ?? "",
    outputs: request.n,
    parameters: request.parameters,
    inputs: inputs.map((input) => input.role),
    inputPixels: Math.max(0, ...inputs.map(({ width, height }) => width * height)),
  };
}

/** How a task should behave when its creator rehearses a case: the `sandbox` parameter. */
export interface Rehearsal {
  readonly delayMs: number;
  readonly outcome: "completed" | "failed" | "moderated" | "hang";
  readonly errorCode: TaskErrorCode;
  readonly failTimes: number;
  readonly outputsLost: boolean;
}

const DEFAULT_DELAY_MS = { image: 400, video: 1_500 } as const;

/** Reads the `sandbox` parameter, which the model's schema has checked. Ignores anything unexpected. */
export function rehearsalOf(spec: Spec): Rehearsal {
  const given = isJsonObject(spec.parameters.sandbox) ? spec.parameters.sandbox : {};
  const { outcome, delay_ms: delayMs, fail_times: failTimes } = given;
  return {
    delayMs: typeof delayMs === "number" ? delayMs : DEFAULT_DELAY_MS[kindOf(spec)],
    outcome: outcome === "failed" || outcome === "moderated" || outcome === "hang" ? outcome : "completed",
    errorCode: TASK_ERROR_CODES.find((code) => code === given.error_code) ?? "UPSTREAM_ERROR",
    failTimes: typeof failTimes === "number" ? failTimes : 0,
    outputsLost: given.outputs_lost === true,
  };
}

export function kindOf(spec: Spec): "image" | "video" {
  return spec.generator === "picture" || spec.generator === "upscale" ? "image" : "video";
}
