import { and, asc, eq, ne } from "drizzle-orm";
import type { TrailNote } from "../../domain/access/trail.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { RouteOfLane, RouteStore, RouteTrouble } from "../../domain/ports/route-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { routeTrouble } from "./route-table.ts";
import { prepareTrail } from "./trail.ts";

/** What is known to be wrong with routes, in SQLite. */
export function createRouteStore({ db, orm, read, look, write }: Connection, watch: ChangeWatch): RouteStore {
  const any = db.prepare("select 1 from route_trouble limit 1");
  const { lane, upstreamModel, kind } = routeTrouble;
  const trail = prepareTrail(db);
  const isNotBlocked = ne(kind, "blocked");
  let isChanged = false;
  watch.onChange(() => {
    isChanged = true;
  });

  function all(): RouteTrouble[] {
    // At most starts there is none, and this check takes less time than building the query.
    if (any.get() === null) return [];
    return orm.select().from(routeTrouble).orderBy(asc(lane), asc(upstreamModel)).all().map(toTrouble);
  }

  const one = (route: RouteOfLane) =>
    all().filter((each) => each.lane === route.lane && each.upstreamModel === route.upstreamModel)[0];

  return {
    troubles: async () => read(all),
    changedTroubles: async (now) =>
      look(() => {
        watch.look(now);
        if (!isChanged) return undefined;
        const rows = all();
        isChanged = false;
        return rows;
      }),
    async set(trouble, act) {
      await write(() => {
        const { lane: ofLane, upstreamModel: ofModel, until = null, ...rest } = trouble;
        const route = { lane: ofLane, upstreamModel: ofModel };
        const before = act && one(route);
        const set = { ...rest, ...ofCallers(trouble), until };
        const target = [lane, upstreamModel];
        orm
          .insert(routeTrouble)
          .values({ ...route, ...set })
          .onConflictDoUpdate({ target, set, ...(act === undefined && { setWhere: isNotBlocked }) })
          .run();
        trail(act, routeBlocked(trouble, before));
      });
    },
    async clear(route, act) {
      await write(() => {
        const isRoute = and(eq(lane, route.lane), eq(upstreamModel, route.upstreamModel));
        const before = act && one(route);
        orm
          .delete(routeTrouble)
          .where(act === undefined ? and(isRoute, isNotBlocked) : isRoute)
          .run();
        if (before !== undefined) trail(act, routeAllowed(before));
      });
    },
  };
}

type TroubleRow = typeof routeTrouble.$inferSelect;

export function toTrouble({ until, callers, servesOthers, ...row }: TroubleRow): RouteTrouble {
  const known = { ...row, until: until ?? undefined };
  // Only ids of accounts are written there.
  return callers === null ? known : { ...known, callers: callers.split(" ") as AccountId[], servesOthers };
}

/** The columns of the callers that a problem concerns. */
export function ofCallers({ callers, servesOthers }: RouteTrouble) {
  return { callers: callers?.join(" ") ?? null, servesOthers: servesOthers ?? false };
}

type Noted = RouteOfLane & Pick<RouteTrouble, "kind" | "detail">;

/** What the trail says of a route that gets no tasks from now on. */
export function routeBlocked(trouble: Noted, before: Noted | undefined): TrailNote {
  const after = formOf(trouble);
  return { action: "route.block", object: objectOf(trouble), before: before && formOf(before), after };
}

/** What the trail says of a route that gets tasks again. */
export function routeAllowed(before: Noted): TrailNote {
  return { action: "route.allow", object: objectOf(before), before: formOf(before) };
}

/** `fal/second`, or `fal/second:flux/dev` for one model there, as `X-Route` has it. */
function objectOf({ lane, upstreamModel }: RouteOfLane) {
  return { kind: "route", id: upstreamModel === "" ? lane : `${lane}:${upstreamModel}` } as const;
}

const formOf = ({ kind, detail }: Noted) => ({ kind, detail });
