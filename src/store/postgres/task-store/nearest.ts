import { TASK_KINDS } from "../../../domain/task/request.ts";
import { TASK_STATUSES } from "../../../domain/task/task.ts";
import { type Session, statement } from "../session.ts";
import type { Listing } from "./list.ts";

/** Tasks that are looked at: about a millisecond's worth. It is stated, so that the planner goes by the index. */
const LOOKS = 1_000;

type Values = [after: string, limit: number, statuses: readonly string[], kinds: readonly string[]];

/**
 * Returns a function that reads the first tasks of a filter, newest first, where it finds a page of them among the next that there are of
 * any kind. Most lists of all accounts are found so, for less than a seek in each of their groups takes.
 *
 * @returns undefined where they are fewer, and for lists of one account or model, which have few groups
 */
export function prepareNearest<Row>(
  columns: string,
): (session: Session, filter: Omit<Listing, "order">) => Promise<Row[] | undefined> {
  const select = statement<Row, Values>(
    `select ${columns} from task where id = any (array(
       select id from (select id, status, kind from task where id < $1 order by id desc limit ${LOOKS}) as near
       where status = any ($3::text[]) and kind = any ($4::text[]) order by id desc limit $2)) order by id desc`,
  );
  return async (session, { accountId, model, kind, status, limit, after = "~" }) => {
    if (accountId !== undefined || model !== undefined) return undefined;
    const statuses = status === undefined ? TASK_STATUSES : [status];
    const rows = await select.all(session, after, limit, statuses, kind === undefined ? TASK_KINDS : [kind]);
    return rows.length === limit ? rows : undefined;
  };
}
