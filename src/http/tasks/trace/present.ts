import type { JsonObject } from "../../../domain/json.ts";
import { type Asset, assetPath } from "../../../domain/media/asset.ts";
import { CURRENCY, formatAmount } from "../../../domain/money/money.ts";
import { PHASES, type Phases } from "../../../domain/task/trace.ts";
import type { TraceReading } from "../../../service/read-trace.ts";
import { presentOwnStory } from "../story/present.ts";

/** `data` of a task's trace for its owner (docs/api.md 4.12), without the routes and without what they cost the operator. */
export function presentOwnTrace(trace: TraceReading, origin: string): JsonObject {
  const { task, attempts: told, ...rest } = partsOf(presentOwnStory(trace, origin), trace, origin);
  const attempts = trace.attempts.map(({ id }, i) => ({
    ...told[i],
    phases: presentPhases(trace.phases.get(id)),
  }));
  return { task, attempts, ...rest };
}

/** The parts of a trace, made from the story that the task's reader may see. */
export function partsOf(
  story: JsonObject,
  { task, inputs, outputs, refunded }: TraceReading,
  origin: string,
) {
  const { attempts, callbacks, charge = [], hold: _, refund: __, ...told } = story;
  return {
    task: told,
    // Made by the presenter of stories.
    attempts: attempts as readonly JsonObject[],
    callbacks,
    assets: [...inputs, ...outputs].map((asset) => presentAsset(asset, origin)),
    price: {
      amount: formatAmount(task.held),
      charged: task.charged === undefined ? undefined : formatAmount(task.charged),
      refunded: refunded === undefined ? undefined : formatAmount(refunded),
      currency: CURRENCY,
      lines: charge,
    },
  };
}

export function presentPhases(phases: Phases = {}): JsonObject {
  const known = PHASES.flatMap((name) => {
    const span = phases[name];
    if (span === undefined) return [];
    const { durationMs, count, failed } = span;
    return [[name, { duration_ms: durationMs, count, failed }] as const];
  });
  return Object.fromEntries(known);
}

function presentAsset(asset: Asset, origin: string): JsonObject {
  const { id, role, index, type, sizeBytes, width, height, durationMs } = asset;
  const pixels = width > 0 ? { width, height } : {};
  const about = { media_type: type, size_bytes: sizeBytes, ...pixels, duration_ms: durationMs };
  return { id, role, index, ...about, url: origin + assetPath(asset) };
}
