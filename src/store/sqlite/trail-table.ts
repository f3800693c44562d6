import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { TrailEntry } from "../../domain/access/trail.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RawRow } from "./raw-row.ts";

/** Who changed what. A row is written with its change and stays: triggers of its migration refuse updates and deletes. */
export const trailEntry = sqliteTable(
  "trail_entry",
  {
    id: integer().primaryKey(),
    at: integer().notNull(),
    actorKind: text("actor_kind").$type<TrailEntry["actor"]["kind"]>().notNull(),
    /** A token's id, or the kind again. */
    actor: text().notNull(),
    actorName: text("actor_name"),
    action: text().notNull(),
    objectKind: text("object_kind").notNull(),
    object: text().notNull(),
    objectName: text("object_name"),
    /** JSON of what changed, without secrets. */
    before: text({ mode: "json" }).$type<JsonObject>(),
    after: text({ mode: "json" }).$type<JsonObject>(),
  },
  (table) => [
    index("trail_entry_at").on(table.at),
    index("trail_entry_actor").on(table.actor, table.at),
    index("trail_entry_action").on(table.action, table.at),
    index("trail_entry_object").on(table.object, table.at),
  ],
);

export type TrailRow = RawRow<typeof trailEntry>;

export function toTrailEntry(row: TrailRow): TrailEntry {
  const { id: number, at, action } = row;
  const hasId = row.actor !== row.actor_kind;
  return {
    ...{ number, at, action },
    actor: {
      kind: row.actor_kind,
      id: hasId ? row.actor : undefined,
      name: row.actor_name ?? undefined,
    },
    object: { kind: row.object_kind, id: row.object, name: row.object_name ?? undefined },
    before: parsed(row.before),
    after: parsed(row.after),
  };
}

// Safe: `prepareTrail` writes objects.
const parsed = (text: string | null) => (text === null ? undefined : (JSON.parse(text) as JsonObject));
