import { and, asc, eq } from "drizzle-orm";
import type { RouteStore, RouteTrouble } from "../../domain/ports/route-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { routeTrouble } from "./route-table.ts";

/** What is known to be wrong with routes, in SQLite. */
export function createRouteStore({ db, orm, read, write }: Connection, watch: ChangeWatch): RouteStore {
  const any = db.prepare("select 1 from route_trouble limit 1");
  const { lane, upstreamModel } = routeTrouble;
  let isChanged = false;
  watch.onChange(() => {
    isChanged = true;
  });

  function all(): RouteTrouble[] {
    // At most starts there is none, and building the query takes longer than looking.
    if (any.get() === null) return [];
    const rows = orm.select().from(routeTrouble).orderBy(asc(lane), asc(upstreamModel)).all();
    return rows.map(({ until, ...row }) => ({ ...row, until: until ?? undefined }));
  }

  return {
    troubles: async () => read(all),
    changedTroubles: async (now) =>
      read(() => {
        watch.look(now);
        if (!isChanged) return undefined;
        const rows = all();
        isChanged = false;
        return rows;
      }),
    async set({ lane: ofLane, upstreamModel: ofModel, until = null, ...rest }) {
      await write(() => {
        const route = { lane: ofLane, upstreamModel: ofModel };
        const set = { ...rest, until };
        const target = [lane, upstreamModel];
        orm
          .insert(routeTrouble)
          .values({ ...route, ...set })
          .onConflictDoUpdate({ target, set })
          .run();
      });
    },
    async clear(route) {
      await write(() => {
        const isRoute = and(eq(lane, route.lane), eq(upstreamModel, route.upstreamModel));
        orm.delete(routeTrouble).where(isRoute).run();
      });
    },
  };
}
