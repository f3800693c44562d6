import type { Database } from "bun:sqlite";
import { POSTPONED_AT_ONCE, type Postponing } from "../../../domain/ports/claims.ts";

/** The body of `TaskStore.postpone`. Reads no more rows than it may change. */
export function preparePostpone(db: Database) {
  const postpone = db.prepare<never, [until: number, id: string, lane: string, setup: string]>(
    `update task set pool = 'waiting', due_at = ?1 where number in (
       select number from (
         select number, model_label, attempts from task indexed by task_ready
         where pool = 'ready' and lane = ?3 and setup = ?4
           and account_number = (select account_number from task where id = ?2)
         order by id limit ${POSTPONED_AT_ONCE}
       ) where attempts = 0 and model_label = (select model_label from task where id = ?2)
     )`,
  );
  return (...[{ id, lane, setup = "" }, until]: Parameters<Postponing["postpone"]>): number =>
    postpone.run(until, id, lane, setup).changes;
}
