import type { ModelId } from "../../../domain/ids.ts";
import { type Hastening, POSTPONED_AT_ONCE } from "../../../domain/ports/claims.ts";
import { type Session, statement } from "../session.ts";

// A task that another transaction holds is left: it is claimed just now, or cancelled.
const HASTEN = statement<never, [now: number, lane: string, models: readonly ModelId[]]>(
  `with next as (
     select number, model_label, failures from task
     where pool = 'waiting' and lane = $2 order by due_at limit ${POSTPONED_AT_ONCE}
   ), alike as (
     select number from task where pool = 'waiting' and number in (
       select number from next
       where failures = 0 and model_label in (select number from label where text = any($3::text[]))
     ) for no key update skip locked
   )
   update task set pool = 'ready', due_at = $1 from alike where task.number = alike.number`,
);

/** The body of `TaskStore.hasten`. */
export function hasten(
  session: Session,
  ...[{ lane, models }, now]: Parameters<Hastening["hasten"]>
): Promise<number> {
  return HASTEN.run(session, now, lane, models);
}
