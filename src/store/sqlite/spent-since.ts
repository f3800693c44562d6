import { toMicros } from "../../domain/money/money.ts";
import type { RouteSpend, UsageStore } from "../../domain/ports/usage-store.ts";
import { nextTurn } from "../../toolkit/next-turn.ts";
import type { Connection } from "./connection.ts";

/** Attempts that are summed up before other work runs: a few milliseconds' worth. */
const AT_ONCE = 4_000;

interface Slice {
  readonly count: number;
  /** When the last of them ended; null for none. */
  readonly until: number | null;
}

/** The body of `UsageStore.spentSince`, in slices of the attempts with a cost, by when they ended. */
export function prepareSpentSince(
  { db, look }: Pick<Connection, "db" | "look">,
  atOnce = AT_ONCE,
): UsageStore["spentSince"] {
  const ended = "from attempt indexed by attempt_cost where cost_micros is not null and ended_at >= ?1";
  const slice = db.prepare<Slice, [from: number, limit: number]>(
    `select count(*) as count, max(ended_at) as until
     from (select ended_at ${ended} order by ended_at limit ?2)`,
  );
  const spent = db.prepare<RouteSpend, [from: number, until: number]>(
    `select provider as lane, upstream_model as upstreamModel, sum(cost_micros) as cost
     ${ended} and ended_at <= ?2 group by 1, 2`,
  );

  return async (time) => {
    const sums = new Map<string, RouteSpend>();
    for (let from = time; ; ) {
      const { count, until } = look(() => slice.get(from, atOnce)) ?? { count: 0, until: null };
      if (until === null) break;
      for (const { lane, upstreamModel, cost } of look(() => spent.all(from, until))) {
        const way = `${lane} ${upstreamModel}`;
        sums.set(way, { lane, upstreamModel, cost: toMicros((sums.get(way)?.cost ?? 0) + cost) });
      }
      if (count < atOnce) break;
      from = until + 1;
      await nextTurn();
    }
    return [...sums.values()];
  };
}
