import type { Output } from "../../domain/ports/provider.ts";
import { renderAtOnce } from "../../studio/swatch.ts";
import { needsRendering } from "./course.ts";
import { toRenderJob } from "./render-jobs.ts";
import type { Rehearsal, Spec } from "./spec.ts";

/**
 * All outputs of a submission that are made in less time than a poll takes: pictures of a few pixels, without a delay.
 *
 * @returns undefined where anything has to be waited for
 */
export function outputsAtOnce(spec: Spec, rehearsal: Rehearsal): Output[] | undefined {
  if (rehearsal.delayMs > 0 || !needsRendering(rehearsal) || spec.inputs.length > 0) return undefined;
  const outputs: Output[] = [];
  for (let index = 0; index < spec.outputs; index++) {
    const rendered = renderAtOnce(toRenderJob(spec, index, []));
    if (rendered === undefined) return undefined;
    outputs.push({ kind: "bytes", bytes: rendered.bytes });
  }
  return outputs;
}
