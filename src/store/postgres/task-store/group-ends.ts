import type { TaskId } from "../../../domain/ids.ts";
import type { Transition } from "../../../domain/task/transition.ts";
import { LIVE } from "../../sqlite/task-store/task-table.ts";
import { insertCallback } from "../callback-store/insert.ts";
import { type Session, statement } from "../session.ts";

const LIVE_OF = statement<{ id: TaskId }, [ids: readonly TaskId[]]>(
  `select id from task where id = any($1) and ${LIVE}`,
);

/** Tells of the groups whose last task has ended with these transitions, which are written. It holds the row of the groups' account. */
export async function tellGroupEnds(session: Session, transitions: readonly Transition[]): Promise<void> {
  const ends = transitions.flatMap(({ groupEnd }) => groupEnd ?? []);
  if (ends.length === 0) return;
  const others = ends.flatMap((end) => end.others);
  const live = new Set((await LIVE_OF.all(session, others)).map(({ id }) => id));
  // When tasks of a group end together, the last one tells of it.
  for (const end of new Map(ends.map((each) => [each.callback.id, each])).values())
    if (!end.others.some((id) => live.has(id))) await insertCallback(session, end.callback);
}
