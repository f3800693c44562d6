import { actorOf, type Operator } from "../domain/access/actor.ts";
import type { TrailNote } from "../domain/access/trail.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TrailStore } from "../domain/ports/trail-store.ts";

/** Records in the trail a change that an operator is about to make and that no table contains. */
export type NoteChange = (operator: Operator, note: TrailNote) => Promise<void>;

export function createNoteChange({
  trail,
  clock,
}: {
  readonly trail: Pick<TrailStore, "note">;
  readonly clock: Pick<Clock, "now">;
}): NoteChange {
  return (operator, note) => trail.note({ actor: actorOf(operator), at: clock.now() }, note);
}
