import type { Counted, RateLimiter } from "../../domain/ports/rate-limiter.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Driver } from "./driver.ts";
import { DATABASE_NOW } from "./node-store.ts";
import { type Session, statement } from "./session.ts";

const WINDOW_MS = 60_000;
/** The share of a limit that all nodes together may have reserved but not used when its window ends. */
const UNUSED_SHARE = 0.05;
/** Windows that are kept in memory. */
const MOST_KEPT = 10_000;

interface WindowRow {
  readonly used: number;
  readonly ends_in: number;
}

/** Whether a window is over, as SQL. One that ends later than any can was begun before the database's clock was set back. */
const isOver = (endsAt: string) =>
  `(${endsAt} not between ${DATABASE_NOW} + 1 and ${DATABASE_NOW} + ${WINDOW_MS})`;

// A window that is over restarts with the next request. Requests beyond the limit stay counted until the window ends.
const TAKE = statement<WindowRow, [name: string, count: number]>(
  `insert into rate_window as held (name, used, ends_at) values ($1, $2, ${DATABASE_NOW} + ${WINDOW_MS})
   on conflict (name) do update set
     used = case when ${isOver("held.ends_at")} then excluded.used else held.used + excluded.used end,
     ends_at = case when ${isOver("held.ends_at")} then excluded.ends_at else held.ends_at end
   returning used, ends_at - ${DATABASE_NOW} as ends_in`,
);
const LOOK = statement<WindowRow, [name: string]>(
  `select used, ends_at - ${DATABASE_NOW} as ends_in from rate_window where name = $1 and not ${isOver("ends_at")}`,
);
const FORGET = statement(
  `delete from rate_window where name in
     (select name from rate_window where ends_at < ${DATABASE_NOW} limit 1000 for update skip locked)`,
);

/** Removes windows that are over. */
export async function forgetWindows({ aside }: Pick<Driver, "aside">): Promise<void> {
  await FORGET.run(aside);
}

/** This node's part of a window. */
interface Lease {
  /** Requests that may still be made without asking the database. */
  left: number;
  /** How many all nodes have reserved, as far as this node knows. */
  used: number;
  /** By the clock that never jumps. */
  endsAt: number;
}

/**
 * Counts requests of keys in windows that all nodes share. A node reserves a few requests at a time, so that most requests need
 * no query. At most 5 % of a limit are reserved and not used. Never allows more than the limit.
 *
 * @param nodes the number of nodes that count
 * @param alone counts while the database is not reachable
 */
export function createSharedRateLimiter(
  { aside }: Pick<Driver, "aside">,
  {
    clock,
    nodes,
    alone,
  }: { readonly clock: Clock; readonly nodes: () => number; readonly alone: RateLimiter },
): RateLimiter {
  const windows = createLeases(aside, clock, nodes);

  function windowOf(lease: Lease, perMinute: number) {
    const resetsInMs = Math.max(1, Math.round(lease.endsAt - clock.elapsed()));
    const remaining = Math.max(0, Math.min(perMinute, perMinute - lease.used + lease.left));
    return { limit: perMinute, remaining, resetsInMs, resetsAt: clock.now() + resetsInMs };
  }

  async function take(key: Counted, perMinute: number) {
    for (;;) {
      const lease = windows.inForce(key);
      if (lease !== undefined && lease.left > 0) {
        lease.left -= 1;
        return { isAllowed: true, ...windowOf(lease, perMinute) };
      }
      // Everything is reserved. Until the window ends or the limit is raised, a query is useless.
      if (lease !== undefined && lease.used >= perMinute)
        return { isAllowed: false, ...windowOf(lease, perMinute), remaining: 0 };
      await windows.more(key, perMinute);
    }
  }

  return {
    take: (key, perMinute) => take(key, perMinute).catch(() => alone.take(key, perMinute)),
    async peek(key, perMinute) {
      const row = await LOOK.get(aside, key).catch(() => undefined);
      if (row === undefined) return { limit: perMinute, remaining: perMinute };
      const left = windows.inForce(key)?.left ?? 0;
      const remaining = Math.max(0, Math.min(perMinute, perMinute - row.used + left));
      return { limit: perMinute, remaining, resetsAt: clock.now() + row.ends_in };
    },
  };
}

/** This node's parts of all windows. */
function createLeases(aside: Session, clock: Clock, nodes: () => number) {
  const leases = new Map<Counted, Lease>();
  const asking = new Map<Counted, Promise<void>>();

  const inForce = (key: Counted): Lease | undefined => {
    const lease = leases.get(key);
    return lease !== undefined && lease.endsAt > clock.elapsed() ? lease : undefined;
  };

  async function takeMore(key: Counted, perMinute: number): Promise<void> {
    const count = Math.max(1, Math.floor((perMinute * UNUSED_SHARE) / Math.max(1, nodes())));
    const row = await ask(aside, TAKE, key, count);
    const granted = Math.min(count, Math.max(0, perMinute - (row.used - count)));
    if (leases.size >= MOST_KEPT) leases.clear();
    leases.set(key, { left: granted, used: row.used, endsAt: clock.elapsed() + row.ends_in });
  }

  /** One query for a key at a time; its result serves all who wait. */
  function more(key: Counted, perMinute: number): Promise<void> {
    const known = asking.get(key);
    if (known !== undefined) return known;
    const asked = takeMore(key, perMinute).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  return { inForce, more };
}

async function ask(session: Session, from: typeof TAKE, key: Counted, count: number): Promise<WindowRow> {
  const row = await from.get(session, key, count);
  if (row === undefined) throw new Error("The database counted nothing.");
  return row;
}
