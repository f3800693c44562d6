import type { ChangeQuery, ManagedChange } from "../../../domain/ports/task-store.ts";
import { MANAGED_COLUMNS, type ManagedRow, toManagedTask } from "../../sqlite/task-store/managed.ts";
import { LAST_NUMBER, leastMark } from "../change-marks.ts";
import { type Session, statement } from "../session.ts";

/**
 * Up to which number every change is committed. Those of several accounts are not in commit order: a transaction may have drawn a
 * number that is lower than a committed one. So the sequence is read first, then the marks of the transactions; what began to draw
 * after that draws higher numbers. The condition on the sequence's row keeps this order.
 */
const SETTLED = statement<{ number: number }>(
  `select least(${LAST_NUMBER}, (${leastMark("drawn.last_value > 0")})) as number from task_change_number as drawn`,
);

/** Changes of an account, the first ones. What is not settled yet is left out after that: it is the last that there is. */
const first = (limit: string) =>
  `(select change from task where account_number = account.number and change > $1 order by change limit ${limit})`;

/**
 * Changes are indexed by account, and an index over all of them would cost every task; so this merges those of the accounts, which are
 * few beside their tasks. No more accounts than the page has changes can have a part in it.
 */
const PAGE = statement<
  ManagedRow & { readonly change: number },
  [after: number, last: number, limit: number]
>(
  `with head as materialized (
     select account.number, first.change from account cross join lateral ${first("1")} as first
     order by first.change limit $3),
   page as materialized (
     select account.number, next.change from head as account cross join lateral ${first("$3")} as next
     where next.change <= $2 order by next.change limit $3)
   select changed.* from page cross join lateral (select ${MANAGED_COLUMNS}, change from task
     where account_number = page.number and change = page.change limit 1) as changed order by changed.change`,
);

/** The body of `TaskStore.managedChanges`: two statements, the second of which sees all that the first one counts on. */
export async function managedChanges(
  session: Session,
  { after, limit }: Omit<ChangeQuery, "accountId">,
): Promise<ManagedChange[]> {
  const last = await latestManagedChange(session);
  if (last <= after) return [];
  const rows = await PAGE.all(session, after, last, limit);
  return rows.map((row) => ({ number: row.change, task: toManagedTask(row) }));
}

/** The body of `TaskStore.latestManagedChange`: every change up to this number can be read now. */
export async function latestManagedChange(session: Session): Promise<number> {
  return (await SETTLED.get(session))?.number ?? 0;
}
