import type { Database } from "bun:sqlite";
import type { Act } from "../../domain/access/actor.ts";
import { type TrailNote, trailActor } from "../../domain/access/trail.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import { json } from "./raw-row.ts";

/** Writes an entry in the transaction of its change. Without an act there is none: the service does it by itself. */
export type Trail = (act: Act | undefined, note: TrailNote | undefined) => void;

/** The only writer of the trail. */
export function prepareTrail(db: Database): Trail {
  const statements = madeAtUse({
    insert: () =>
      db.prepare(
        `insert into trail_entry
           (at, actor_kind, actor, actor_name, action, object_kind, object, object_name, before, after)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
  });
  return (act, note) => {
    if (act === undefined || note === undefined) return;
    const { kind, id = kind, name = null } = trailActor(act);
    const { action, object, before, after } = note;
    statements.insert.run(
      ...[act.at, kind, id, name, action, object.kind, object.id, object.name ?? null],
      ...[json(before), json(after)],
    );
  };
}
