import type { Database } from "bun:sqlite";
import type { KeyId, LaneId } from "../../domain/ids.ts";
import type { RouteTrouble } from "../../domain/ports/route-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import { toTrouble } from "./route-store.ts";
import type { routeTrouble } from "./route-table.ts";
import { LIVE } from "./task-store/task-table.ts";

/** How many rows are counted at most. */
export const MOST_COUNTED = 100_000;

/** Facts about a database besides its books. Every number counts rows, up to 100,000. */
export interface Inspected {
  /** Tasks under way whose lease ended before `staleBefore`. */
  readonly staleLeases: number;
  readonly liveTasks: number;
  /** Callbacks that were due before `staleBefore` and were not sent. */
  readonly overdueCallbacks: number;
  /** Callbacks created since `failedSince` that were given up. */
  readonly failedCallbacks: number;
  /** Names of keys in use that expire before `expiresBefore`, at most ten. */
  readonly expiringKeys: readonly string[];
  /** Names of keys whose callback secrets no key at hand opens, at most ten. */
  readonly lockedKeys: readonly string[];
  /** Routes and accounts at providers that get no tasks, and not because an operator wants it so; at most ten. */
  readonly routesDown: readonly RouteTrouble[];
  /** Which accounts at providers have accepted tasks, how many, and how much is held for these, in micro-units. */
  readonly liveLanes: readonly LiveLane[];
  /** When the service last worked; undefined before its first task. */
  readonly lastBeat: number | undefined;
}

export interface LiveLane {
  readonly lane: LaneId;
  readonly tasks: number;
  readonly held: number;
}

export interface InspectionTimes {
  readonly now: number;
  readonly staleBefore: number;
  readonly failedSince: number;
  readonly expiresBefore: number;
}

/** Most faults, or names, that are told. */
export const NAMED = 10;

export function inspect(
  db: Database,
  times: InspectionTimes,
  seal: Pick<Seal, "open" | "stateOf">,
): Inspected {
  const counted = (rows: string, ...values: number[]): number =>
    db
      .query<{ count: number }, number[]>(`select count(*) as count from (${rows} limit ${MOST_COUNTED})`)
      .get(...values)?.count ?? 0;
  const { now, staleBefore, failedSince, expiresBefore } = times;
  return {
    staleLeases: counted(
      "select 1 from task indexed by task_under_way where pool = 'under_way' and due_at < ?",
      staleBefore,
    ),
    liveTasks: counted("select 1 from task indexed by task_live where status in ('pending', 'processing')"),
    overdueCallbacks:
      counted(
        "select 1 from callback indexed by callback_waiting where pool = 'waiting' and due_at < ?",
        staleBefore,
      ) +
      counted(
        "select 1 from callback indexed by callback_ready where pool = 'ready' and due_at < ?",
        staleBefore,
      ),
    failedCallbacks: counted(
      "select 1 from callback indexed by callback_failed where state = 'failed' and created_at >= ?",
      failedSince,
    ),
    expiringKeys: db
      .query<{ name: string }, number[]>(
        `select name from api_key where revoked_at is null and expires_at > ? and expires_at < ? order by expires_at limit ${NAMED}`,
      )
      .all(now, expiresBefore)
      .map(({ name }) => name),
    lockedKeys: lockedIn(db.query<SigningKey, []>(SIGNING_KEYS).all(), seal),
    routesDown: db.query<RouteRow, []>(ROUTES_DOWN).all().map(toTrouble),
    liveLanes: db.query<LiveLane, []>(liveLanesOf("task indexed by task_live")).all(),
    lastBeat: db.query<{ at: number }, []>("select at from heartbeat").get()?.at,
  };
}

/** @param from the table of tasks, with the index of live ones where the database has to be told */
export const liveLanesOf = (from: string): string =>
  `select lane, count(*) as tasks, cast(sum(held_micros) as bigint) as held
   from (select lane, held_micros from ${from} where ${LIVE} limit ${MOST_COUNTED}) as live group by lane order by lane`;

type RouteRow = typeof routeTrouble.$inferSelect;

/** Routes that get no tasks, as rows of the table. In both dialects. */
export const ROUTES_DOWN = `select provider as lane, upstream_model as "upstreamModel", detail, since, kind, until, times, callers,
    serves_others as "servesOthers"
  from route_trouble where kind <> 'blocked' order by since limit ${NAMED}`;

/** What SQLite reports about the pages and indexes of a database; empty for an intact one. */
export function faultsOf(db: Database): string[] {
  const rows = db.query<{ quick_check: string }, []>(`pragma quick_check(${NAMED})`).all();
  return rows.map((row) => row.quick_check).filter((text) => text !== "ok");
}

/** A key that signs callbacks. */
export interface SigningKey {
  readonly id: KeyId;
  readonly name: string;
  readonly secret: string;
}
/** Finds every `SigningKey`. */
export const SIGNING_KEYS =
  "select id, name, callback_secret as secret from api_key where callback_secret is not null order by id";

/** Names of keys whose secrets no key at hand opens. */
export function lockedIn(rows: readonly SigningKey[], seal: Pick<Seal, "open" | "stateOf">): string[] {
  const locked = rows.filter(
    ({ id, secret }) => seal.stateOf(secret) !== "clear" && seal.open(secret, id) === undefined,
  );
  return locked.slice(0, NAMED).map(({ name }) => name);
}
