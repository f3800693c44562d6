import type { Database } from "bun:sqlite";
import type { TrailFilter, TrailPage, TrailStore } from "../../domain/ports/trail-store.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import type { Connection } from "./connection.ts";
import { prepareTrail } from "./trail.ts";
import { type TrailRow, toTrailEntry } from "./trail-table.ts";

/** Entries that a page looks at where several filters are given: one finds them in its index, the others pass over them. */
const LOOKED_AT = 1_000;
const END = Number.MAX_SAFE_INTEGER;

/** What leads to entries, by the index that has fewest of them. */
const LEADS = ["object", "actor", "action"] as const;

/** The trail in SQLite, for readers. */
export function createTrailStore({ db, read, write }: Connection): TrailStore {
  const statements = madeAtUse({
    at: () => db.prepare<{ at: number }, [id: number]>("select at from trail_entry where id = ?"),
    object: () => prepareLead(db, "object = ?5 and"),
    actor: () => prepareLead(db, "actor = ?5 and"),
    action: () => prepareLead(db, "action = ?5 and"),
    all: () => prepareLead(db, ""),
    trail: () => prepareTrail(db),
  });

  function page(filter: TrailFilter): TrailPage {
    const { after } = filter;
    const last = after === undefined ? undefined : statements.at.get(after);
    if (last === null) return { entries: [] };
    const { bounds, lead, find } = searchOf(filter, last?.at);
    return find(
      lead === undefined
        ? statements.all.all(...bounds)
        : statements[lead].all(...bounds, filter[lead] ?? ""),
    );
  }

  return {
    note: (act, note) => write(() => statements.trail(act, note)),
    page: async (filter) => read(() => page(filter)),
  };
}

/** How a page is looked for. @param lastAt when the entry was noted that the page begins after */
export function searchOf(filter: TrailFilter, lastAt: number | undefined) {
  const { since = 0, until = END, limit, after = 0 } = filter;
  const [at, id] = lastAt === undefined || lastAt >= until ? [until, 0] : [lastAt, after];
  const given = LEADS.filter((name) => filter[name] !== undefined);
  const [lead, ...rest] = given;
  // One more than asked for shows whether there is another page.
  const most = rest.length === 0 ? limit + 1 : LOOKED_AT;
  const bounds: [at: number, id: number, since: number, limit: number] = [at, id, since, most];

  /** The page, from the rows that lie within the bounds and match the lead. */
  function find(rows: readonly TrailRow[]): TrailPage {
    const found = rows.filter((row) => rest.every((name) => row[name] === filter[name]));
    const entries = found.slice(0, limit).map(toTrailEntry);
    if (found.length > limit) return { entries, next: entries.at(-1)?.number };
    return { entries, next: rows.length === most ? rows.at(-1)?.id : undefined };
  }

  return { bounds, lead, find };
}

type Bounds = [at: number, id: number, since: number, limit: number, ...lead: string[]];

function prepareLead(db: Database, condition: string) {
  return db.prepare<TrailRow, Bounds>(
    `select * from trail_entry where ${condition} (at, id) < (?1, ?2) and at >= ?3
     order by at desc, id desc limit ?4`,
  );
}
