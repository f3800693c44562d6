import type { JsonObject } from "./json.ts";
import { accountNameOf } from "./lane.ts";
import type { Standing } from "./model/standing.ts";
import { standingForm } from "./model/standing-form.ts";
import { formatAmount } from "./money/money.ts";
import type { Explained, ExplainedWay, ManagedWay } from "./ports/managed-routes.ts";

/** A way as `GET /admin/v1/routes` lists it. */
export function managedWayForm(way: ManagedWay): JsonObject {
  const { provider, lane, upstreamModel, models, standing, concurrency, underWay } = way;
  const { perMinute, p50Ms, p95Ms, ended, spentToday } = way;
  return {
    ...{ provider, account: accountNameOf(lane), lane, upstream_model: upstreamModel, models },
    breaker: breakerOf(standing),
    ...standingForm(standing),
    ...(perMinute !== undefined && { per_minute: Math.round(perMinute * 10) / 10 }),
    under_way: underWay,
    ...(concurrency !== undefined && { concurrency }),
    ...(p50Ms !== undefined && { p50_ms: Math.round(p50Ms) }),
    ...(p95Ms !== undefined && { p95_ms: Math.round(p95Ms) }),
    ...(ended !== undefined && endedForm(ended)),
    spent_today: formatAmount(spentToday),
  };
}

function endedForm({ completed, failed }: NonNullable<ManagedWay["ended"]>): JsonObject {
  const all = completed + failed;
  // Rounded down, so that only a full share is 1.
  const rate = all === 0 ? {} : { success: Math.floor((completed / all) * 10_000) / 10_000 };
  return { completed, failed, ...rate };
}

/** Whether tasks are kept away because earlier tasks failed. An operator's block and a pause do not count. */
function breakerOf({ state }: Standing): "closed" | "open" | "half_open" {
  if (state === "half_open") return state;
  return state === "open" || state === "refused" || state === "spent" ? "open" : "closed";
}

/** The answer of `POST /admin/v1/routes/explain`. */
export function explainedForm({ model, mode, policy, policyFrom, outcome, ways }: Explained): JsonObject {
  return { model, mode, policy, policy_from: policyFrom, outcome, ways: ways.map(explainedWayForm) };
}

function explainedWayForm(way: ExplainedWay): JsonObject {
  const { provider, lane, upstreamModel, verdict, field, why, standing, cost } = way;
  return {
    provider,
    ...(lane !== undefined && { account: accountNameOf(lane), lane }),
    upstream_model: upstreamModel,
    verdict,
    ...(field !== undefined && { field }),
    ...(why !== undefined && { why }),
    ...standingForm(standing),
    ...(cost !== undefined && { cost: formatAmount(cost) }),
  };
}
