import type { Act } from "../../domain/access/actor.ts";
import { type TrailNote, trailActor } from "../../domain/access/trail.ts";
import { json } from "../sqlite/raw-row.ts";
import { type Parameter, type Session, statement } from "./session.ts";

const INSERT = statement<never, Parameter[]>(
  `insert into trail_entry
     (at, actor_kind, actor, actor_name, action, object_kind, object, object_name, before, after)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/** Writes an entry in the transaction of its change. Without an act there is none: the service does it by itself. */
export async function writeTrail(
  session: Session,
  act: Act | undefined,
  note: TrailNote | undefined,
): Promise<void> {
  if (act === undefined || note === undefined) return;
  const { kind, id = kind, name = null } = trailActor(act);
  const { action, object, before, after } = note;
  await INSERT.run(
    session,
    ...[act.at, kind, id, name, action, object.kind, object.id, object.name ?? null],
    ...[json(before), json(after)],
  );
}
