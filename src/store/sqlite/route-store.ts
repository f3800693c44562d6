import { and, asc, eq } from "drizzle-orm";
import type { RouteStore } from "../../domain/ports/route-store.ts";
import type { Connection } from "./connection.ts";
import { routeTrouble } from "./route-table.ts";

/** What is known to be wrong with routes, in SQLite. */
export function createRouteStore({ orm, read, write }: Connection): RouteStore {
  const { lane, upstreamModel } = routeTrouble;
  return {
    troubles: async () =>
      read(() => {
        const rows = orm.select().from(routeTrouble).orderBy(asc(lane), asc(upstreamModel)).all();
        return rows.map(({ until, ...row }) => ({ ...row, until: until ?? undefined }));
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
