import type { Database } from "bun:sqlite";
import { type Hastening, POSTPONED_AT_ONCE } from "../../../domain/ports/claims.ts";

/** The body of `TaskStore.hasten`. Reads no more rows than it may change. */
export function prepareHasten(db: Database) {
  const hasten = db.prepare<never, [now: number, lane: string, models: string]>(
    `update task set pool = 'ready', due_at = ?1 where number in (
       select number from (
         select number, model_label, failures from task indexed by task_waiting
         where pool = 'waiting' and lane = ?2 order by due_at limit ${POSTPONED_AT_ONCE}
       ) where failures = 0
         and model_label in (select number from label where text in (select value from json_each(?3)))
     )`,
  );
  return (...[{ lane, models }, now]: Parameters<Hastening["hasten"]>): number =>
    hasten.run(now, lane, JSON.stringify(models)).changes;
}
