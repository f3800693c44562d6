import { useEffect, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { durationText } from "../../parts/duration.ts";
import { moneyText } from "../../parts/money.tsx";
import { type ModelInFull, mediaOf, type Request, sketchOf } from "./request.ts";

export interface Estimated {
  readonly estimate?: Schemas["Estimate"];
  /** Why the service would refuse the request. */
  readonly problem?: ApiProblem;
}
export type Estimates = ReadonlyMap<string, Estimated>;

/** While somebody types, milliseconds. */
const PAUSE_MS = 300;

/** What each request would cost, as the service says it, a moment after the last change. */
export function useEstimates(requests: readonly (readonly [ModelInFull, Request])[]): {
  readonly estimates: Estimates;
  readonly isReading: boolean;
} {
  const asked = JSON.stringify(
    requests.filter(([model, request]) => canAsk(model, request)).map(([, { body }]) => sketchOf(body)),
  );
  const [settled, setSettled] = useState(asked);
  useEffect(() => {
    const due = setTimeout(() => setSettled(asked), PAUSE_MS);
    return () => clearTimeout(due);
  }, [asked]);
  const { data, isReading } = useReading(settled, async (signal) => {
    const bodies = JSON.parse(settled) as readonly { readonly model: string }[];
    const answers = await Promise.all(
      bodies.map(async (body) => [body.model, await estimateOf(body, signal)] as const),
    );
    return new Map(answers);
  });
  const [latest, setLatest] = useState<Estimates>(new Map());
  useEffect(() => {
    if (data !== undefined) setLatest(data);
  }, [data]);
  return { estimates: data ?? latest, isReading: isReading || settled !== asked };
}

/** Only what nothing is known to be wrong with: prompt and media may still be missing. */
function canAsk(model: ModelInFull, { findings }: Request): boolean {
  return findings.every(
    ({ param, isMissing }) => isMissing && (param === "prompt" || mediaOf(model, param) !== undefined),
  );
}

async function estimateOf(body: object, signal: AbortSignal): Promise<Estimated> {
  try {
    return {
      estimate: await ask("POST /v1/pricing/estimate", { body: { request: { ...body } } }, { signal }),
    };
  } catch (error) {
    if (error instanceof ApiProblem && error.status >= 400 && error.status < 500) return { problem: error };
    throw error;
  }
}

/** The price of a press, in words. */
export function Price({
  estimates,
  models,
  isReading,
}: {
  readonly estimates: Estimates;
  readonly models: readonly ModelInFull[];
  readonly isReading: boolean;
}) {
  const all = models.flatMap(({ id }) => estimates.get(id)?.estimate ?? []);
  // What no field can mend, such as a model that the key may no longer use.
  const refused = models
    .map(({ id }) => estimates.get(id)?.problem)
    .find((problem) => problem !== undefined && problem.status !== 400);
  return (
    <div aria-live="polite" aria-busy={isReading} class="min-w-0 grow text-sm">
      <p class="font-medium tabular-nums" data-price>
        {refused?.message ?? priceOf(all, models.length)}
      </p>
      <p class="text-soft">{[shortage(all) ?? heldText(all), timeText(all)].filter(Boolean).join(" ")}</p>
    </div>
  );
}

function priceOf(all: readonly Schemas["Estimate"][], count: number): string {
  if (all.length < count || all.length === 0) return "Price: once the fields are right";
  if (all.some(({ status }) => status === "unpriced")) return "Without a price";
  const missing = all.flatMap((each) => (each.status === "needs_input" ? each.missing : []));
  if (missing.length > 0) return `Price: depends on ${[...new Set(missing)].join(", ")}`;
  const least = sum(all.map(({ min_cost }) => min_cost));
  const most = sum(all.map(({ max_cost }) => max_cost));
  const text = least === most ? moneyText(most) : `${moneyText(least)} to ${moneyText(most)}`;
  return count > 1 ? `${text} for ${count} models` : text;
}

function heldText(all: readonly Schemas["Estimate"][]): string {
  if (all.length === 0) return "";
  return all.every(({ status }) => status === "exact")
    ? "Held while it is made. What fails costs nothing."
    : "The most is held while it is made. What fails costs nothing.";
}

function shortage(all: readonly Schemas["Estimate"][]): string | undefined {
  const short = all.find(({ affordable }) => affordable === false);
  if (short === undefined) return undefined;
  return short.limited_by === "key_quota"
    ? "More than is left of the key's quota."
    : "More than the account's balance. Whoever manages this service can credit it.";
}

function timeText(all: readonly Schemas["Estimate"][]): string {
  const seconds = all.flatMap(({ estimated_seconds: usual }) => (usual === null ? [] : [usual.p50]));
  return seconds.length === 0 ? "" : `It usually takes ${durationText(Math.max(...seconds) * 1_000)}.`;
}

/** Amounts have six places, which whole numbers of millionths keep. */
function sum(amounts: readonly (string | null)[]): string {
  const millionths = amounts.reduce((total, amount) => total + Math.round(Number(amount ?? 0) * 1e6), 0);
  return (millionths / 1e6).toFixed(6);
}
