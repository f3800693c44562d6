import { POSTPONED_AT_ONCE, type Postponing } from "../../../domain/ports/claims.ts";
import { type Session, statement } from "../session.ts";

// A task that another transaction holds is left: it is claimed just now, or cancelled.
const POSTPONE = statement<never, [until: number, id: string, lane: string, setup: string]>(
  `with given as (select account_number, model_label from task where id = $2), next as (
     select number, model_label, attempts from task
     where pool = 'ready' and lane = $3 and setup = $4 and account_number = (select account_number from given)
     order by id limit ${POSTPONED_AT_ONCE}
   ), alike as (
     select number from task where pool = 'ready' and number in (
       select number from next where attempts = 0 and model_label = (select model_label from given)
     ) for no key update skip locked
   )
   update task set pool = 'waiting', due_at = $1 from alike where task.number = alike.number`,
);

/** The body of `TaskStore.postpone`. */
export function postpone(
  session: Session,
  ...[{ id, lane, setup = "" }, until]: Parameters<Postponing["postpone"]>
): Promise<number> {
  return POSTPONE.run(session, until, id, lane, setup);
}
