import { toMicros } from "../../domain/money/money.ts";
import type { RouteSpend, UsageStore } from "../../domain/ports/usage-store.ts";
import type { Connection } from "./connection.ts";
import { statement } from "./session.ts";

/** Attempts that one statement sums up: a few milliseconds' worth. */
const AT_ONCE = 4_000;

interface Slice {
  readonly count: number;
  /** When the last of them ended; null for none. */
  readonly until: number | null;
}

const ENDED = "from attempt where cost_micros is not null and ended_at >= $1";
const SLICE = statement<Slice, [from: number, limit: number]>(
  `select count(*)::bigint as count, max(ended_at) as until
   from (select ended_at ${ENDED} order by ended_at limit $2) as slice`,
);
const SPENT = statement<RouteSpend, [from: number, until: number]>(
  `select provider as lane, upstream_model as "upstreamModel", sum(cost_micros)::bigint as cost
   ${ENDED} and ended_at <= $2 group by 1, 2`,
);

/** The body of `UsageStore.spentSince`, in slices of the attempts with a cost, by when they ended. */
export function prepareSpentSince(
  { read }: Pick<Connection, "read">,
  atOnce = AT_ONCE,
): UsageStore["spentSince"] {
  return async (time) => {
    const sums = new Map<string, RouteSpend>();
    for (let from = time; ; ) {
      const start = from;
      const { count, until } = (await read((session) => SLICE.get(session, start, atOnce))) ?? {
        ...{ count: 0, until: null },
      };
      if (until === null) break;
      for (const { lane, upstreamModel, cost } of await read((session) => SPENT.all(session, start, until))) {
        const way = `${lane} ${upstreamModel}`;
        sums.set(way, { lane, upstreamModel, cost: toMicros((sums.get(way)?.cost ?? 0) + cost) });
      }
      if (count < atOnce) break;
      from = until + 1;
    }
    return [...sums.values()];
  };
}
