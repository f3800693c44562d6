import type { TrailStore } from "../../domain/ports/trail-store.ts";
import { searchOf } from "../sqlite/trail-store.ts";
import type { TrailRow } from "../sqlite/trail-table.ts";
import type { Connection } from "./connection.ts";
import type { Readers } from "./replica.ts";
import { statement } from "./session.ts";
import { writeTrail } from "./trail.ts";

type Bounds = [at: number, id: number, since: number, limit: number, ...lead: string[]];

const AT = statement<{ at: number }, [id: number]>("select at from trail_entry where id = $1");
const LEADS = {
  object: leadBy("object = $5 and"),
  actor: leadBy("actor = $5 and"),
  action: leadBy("action = $5 and"),
} as const;
const ALL = leadBy("");

/** The trail in PostgreSQL, for readers. @param readers for pages, which may be some seconds old */
export function createTrailStore(
  connection: Pick<Connection, "read" | "readAtOnce" | "write">,
  readers: Readers = connection,
): TrailStore {
  const { write } = connection;
  return {
    note: (act, note) => write((session) => writeTrail(session, act, note)),
    page: (filter) =>
      readers.read(async (session) => {
        const { after } = filter;
        const last = after === undefined ? undefined : await AT.get(session, after);
        if (after !== undefined && last === undefined) return { entries: [] };
        const { bounds, lead, find } = searchOf(filter, last?.at);
        return find(
          lead === undefined
            ? await ALL.all(session, ...bounds)
            : await LEADS[lead].all(session, ...bounds, filter[lead] ?? ""),
        );
      }),
  };
}

function leadBy(condition: string) {
  return statement<TrailRow, Bounds>(
    `select * from trail_entry where ${condition} (at, id) < ($1, $2) and at >= $3
     order by at desc, id desc limit $4`,
  );
}
