import type { Act } from "../../domain/access/actor.ts";
import type { RouteOfLane, RouteStore, RouteTrouble } from "../../domain/ports/route-store.ts";
import type { RawRow } from "../sqlite/raw-row.ts";
import { ofCallers, routeAllowed, routeBlocked, toTrouble } from "../sqlite/route-store.ts";
import { routeTrouble } from "../sqlite/route-table.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { rowOf } from "./row.ts";
import { type Parameter, type Session, statement } from "./session.ts";
import { writeTrail } from "./trail.ts";

type Row = RawRow<typeof routeTrouble>;
type Route = [lane: string, upstreamModel: string];

const ALL = statement<Row>("select * from route_trouble order by provider, upstream_model");
/** Held until the transaction ends, so that the previous value in the trail is the one that is replaced. */
const HELD = statement<Row, Route>(
  "select * from route_trouble where provider = $1 and upstream_model = $2 for update",
);
const PUT = statement<never, Parameter[]>(
  `insert into route_trouble as known (provider, upstream_model, detail, since, kind, until, times, callers, serves_others)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (provider, upstream_model) do update set detail = excluded.detail, since = excluded.since,
     kind = excluded.kind, until = excluded.until, times = excluded.times, callers = excluded.callers,
     serves_others = excluded.serves_others
   where known.kind <> 'blocked' or $10 = 1`,
);
const REMOVE = statement<Row, [...Route, byOperator: 0 | 1]>(
  `delete from route_trouble where provider = $1 and upstream_model = $2 and (kind <> 'blocked' or $3 = 1)
   returning *`,
);

const toRow = rowOf(routeTrouble);
const toKnown = (row: Row): RouteTrouble => toTrouble(toRow(row));
const all = async (session: Session) => (await ALL.all(session)).map(toKnown);
const byOperator = (act: Act | undefined) => (act === undefined ? 0 : 1);
const named = ({ lane, upstreamModel }: RouteOfLane): Route => [lane, upstreamModel];

/** The known problems of routes, in PostgreSQL. */
export function createRouteStore(
  { read, write }: Pick<Connection, "read" | "write">,
  watch: Pick<ChangeWatch, "onChange" | "tell">,
): RouteStore {
  let isChanged = false;
  const change = () => {
    isChanged = true;
  };
  watch.onChange("routes", { forget: change, age: change });

  return {
    troubles: () => read(all),
    async changedTroubles() {
      if (!isChanged) return undefined;
      // A change during this read is read the next time.
      isChanged = false;
      try {
        return await read(all);
      } catch (error) {
        isChanged = true;
        throw error;
      }
    },
    async set(trouble, act) {
      const { kind, detail, since, until = null, times } = trouble;
      await write(async (session) => {
        const held = act && (await HELD.get(session, ...named(trouble)));
        const { callers, servesOthers } = ofCallers(trouble);
        const whose = [callers, Number(servesOthers), byOperator(act)];
        await PUT.run(session, ...named(trouble), detail, since, kind, until, times, ...whose);
        await writeTrail(session, act, routeBlocked(trouble, held && toKnown(held)));
      });
      await watch.tell("routes");
    },
    async clear(route, act) {
      await write(async (session) => {
        const removed = await REMOVE.get(session, ...named(route), byOperator(act));
        await writeTrail(session, act, removed && routeAllowed(toKnown(removed)));
      });
      await watch.tell("routes");
    },
  };
}
