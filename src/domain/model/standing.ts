import { type RouteOfLane, type RouteTrouble, WHOLE_ACCOUNT } from "../ports/route-store.ts";

/**
 * Whether a route at an account gets tasks. `closed` it does · `open` it failed several times in a row, and gets none until `until` ·
 * `half_open` one task tries whether it works again · `refused` the upstream refuses our key, our account or the model · `spent` our
 * account has no money left there · `blocked` an operator wants it so · `paused` the upstream asked for a pause.
 */
export const STANDINGS = ["closed", "open", "half_open", "refused", "spent", "blocked", "paused"] as const;

export interface Standing {
  readonly state: (typeof STANDINGS)[number];
  /** What the upstream or the operator said; free of secrets. */
  readonly detail?: string | undefined;
  /** Epoch milliseconds. */
  readonly since?: number | undefined;
  /** When it is tried again, in epoch milliseconds. Absent: now, or after an operator has acted. */
  readonly until?: number | undefined;
}

export const CLOSED: Standing = { state: "closed" };

/**
 * The standing of a route at an account, from what is stored about the route and about the account as a whole. The one that
 * lasts longest counts.
 */
export function standingFrom(
  troubles: readonly RouteTrouble[],
  { lane, upstreamModel }: RouteOfLane,
  now: number,
): Standing {
  const own = troubles.filter(
    (each) =>
      each.lane === lane && (each.upstreamModel === WHOLE_ACCOUNT || each.upstreamModel === upstreamModel),
  );
  const worst = own.toSorted((a, b) => endOf(b) - endOf(a))[0];
  if (worst === undefined) return CLOSED;
  const { kind, detail, since, until } = worst;
  return endOf(worst) <= now
    ? { state: "half_open", detail, since }
    : { state: kind, detail, since, ...(until !== undefined && { until }) };
}

function endOf({ until = Number.MAX_VALUE }: RouteTrouble): number {
  return until;
}
