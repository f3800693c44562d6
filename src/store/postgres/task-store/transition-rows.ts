import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { LedgerEntry } from "../../../domain/money/ledger.ts";
import { usageOf } from "../../../domain/money/usage.ts";
import { assertLegalMove } from "../../../domain/task/task.ts";
import type { Transition } from "../../../domain/task/transition.ts";
import { placement, type Standing } from "../../sqlite/task-store/advance.ts";
import { CHANGED_TASK, ENDED_ALIKE, ENDED_TASK } from "../../sqlite/task-store/changed-columns.ts";
import type { TaskRow } from "../../sqlite/task-store/task-table.ts";
import { insertCallback } from "../callback-store/insert.ts";
import { asRows, given } from "../given-rows.ts";
import type { Labels } from "../labels.ts";
import type { EntryRow, Ledger } from "../ledger.ts";
import { quotas } from "../quotas.ts";
import { type Session, statement } from "../session.ts";
import { insertAssets } from "./assets.ts";
import { type AttemptChangeRow, attemptChange, updateAttempts } from "./attempts.ts";
import { tellGroupEnds } from "./group-ends.ts";
import { addUsage } from "./usage.ts";

/** The part of a row that decides how a task may change, and what its change counts as. */
export interface StandingRow extends Standing, Pick<TaskRow, "account_id" | "key_id" | "model"> {
  readonly id: TaskId;
  readonly progress: number;
}

/** A transition with the rows that it becomes, which are made before its transaction begins. */
export interface PreparedTransition {
  readonly transition: Transition;
  readonly columns: Readonly<Record<string, string | number | null>>;
  readonly attempt: AttemptChangeRow | undefined;
  readonly entries: readonly EntryRow[];
}

/** A transition of a task whose row is as it says. */
export interface Change {
  readonly standing: StandingRow;
  readonly prepared: PreparedTransition;
  /** Whether the holder knew of the cancel that was requested, if one was. */
  readonly isCancelKnown: boolean;
}

const ALIKE = Object.keys(ENDED_ALIKE).flatMap((column) => [column, `${column}_label`]);
const VALUES = { ...CHANGED_TASK, ...ENDED_TASK };
const NUMBERS = /^(failures|route_index|completed_at|charged_micros|.*_label)$/;
/** Columns that keep their values where a transition has none. */
const KEPT = [...Object.keys(VALUES), ...ALIKE];
const TYPES = {
  ...{ id: "text", from_stage: "text", is_change: "boolean", stage: "text", pool: "text" },
  ...{ lease_token: "text", due_at: "bigint", progress: "bigint" },
  ...Object.fromEntries(KEPT.map((column) => [column, NUMBERS.test(column) ? "bigint" : "text"])),
};
// Numbers of changes are drawn in the order of the rows.
const UPDATE = statement<never, [rows: string]>(
  `update task set stage = given.stage, pool = given.pool, lease_token = given.lease_token, due_at = given.due_at,
     progress = greatest(task.progress, given.progress),
     change = coalesce(changed_as, change),
     ${KEPT.map((column) => `${column} = coalesce(given.${column}, task.${column})`).join(", ")}
   from (select *, case when is_change then nextval('task_change_number') end as changed_as from ${given("$1", TYPES)}) as given
   where task.id = given.id and task.stage = from_stage`,
);

/** Makes the rows of a transition. Asks for labels outside of the transaction. */
export async function prepareTransition(
  { labels, ledger }: { readonly labels: Labels; readonly ledger: Ledger },
  id: TaskId,
  transition: Transition,
): Promise<PreparedTransition> {
  const [texts, attempt, entries] = await Promise.all([
    Promise.all(Object.values(ENDED_ALIKE).map((value) => labels.columns(value(transition)))),
    attemptChange(labels, id, transition),
    Promise.all(transition.ledger.map((entry) => ledger.rowOf(entry, transition.at))),
  ]);
  const values = Object.entries(VALUES).map(([column, value]) => [column, value(transition)]);
  const alike = texts.flat().map((value, i) => [ALIKE[i], value]);
  return { transition, columns: Object.fromEntries([...values, ...alike]), attempt, entries };
}

/** Writes whole transitions of tasks of one account, each of another task. @throws Error for a move that is not legal */
export async function writeChanges(
  session: Session,
  ledger: Ledger,
  { of, changes }: { readonly of: AccountId; readonly changes: readonly Change[] },
): Promise<void> {
  if (changes.length === 0) return;
  for (const { standing, prepared } of changes) assertLegalMove(standing.stage, prepared.transition.to);
  const transitions = changes.map(({ prepared }) => prepared.transition);
  await Promise.all([
    updateTasks(session, changes),
    updateAttempts(
      session,
      changes.flatMap(({ prepared: { attempt } }) => attempt ?? []),
    ),
    ledger.postRows(
      session,
      of,
      changes.flatMap(({ prepared }) => prepared.entries),
    ),
    settleQuotas(session, changes),
    addUsage(session, usagesOf(changes)),
    insertAssets(
      session,
      transitions.flatMap(({ assets }) => assets),
    ),
    ...transitions.map(({ callback }) => callback && insertCallback(session, callback)),
  ]);
  await tellGroupEnds(session, transitions);
}

async function updateTasks(session: Session, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(({ standing, prepared, isCancelKnown }) => {
    const { transition, columns } = prepared;
    const { pool, token, dueAt } = placement(standing, transition, isCancelKnown);
    const { progress = 0 } = transition;
    const isChange = transition.ending !== undefined || progress > standing.progress;
    return {
      ...{ id: standing.id, from_stage: standing.stage, is_change: isChange, stage: transition.to },
      ...{ pool, lease_token: token, due_at: dueAt, progress, ...columns },
    };
  });
  const changed = await UPDATE.run(session, asRows(rows));
  if (changed !== rows.length) throw new Error(`${rows.length} transitions changed ${changed} tasks.`);
}

function usagesOf(changes: readonly Change[]) {
  return changes.flatMap(({ standing, prepared }) => {
    const usage = usageOf(prepared.transition);
    return usage === undefined ? [] : [{ of: standing, usage }];
  });
}

/** Sums up what tasks of one period of a key settle: its row is written once. */
async function settleQuotas(session: Session, changes: readonly Change[]): Promise<void> {
  const entries = new Map<string, LedgerEntry[]>();
  const places = new Map<string, readonly [StandingRow["key_id"], number]>();
  for (const { standing, prepared } of changes) {
    const { key_id, quota_period } = standing;
    if (quota_period === null) continue;
    const place = `${key_id} ${quota_period}`;
    places.set(place, [key_id, quota_period]);
    entries.set(place, [...(entries.get(place) ?? []), ...prepared.transition.ledger]);
  }
  const settled = [...places].map(([place, [key, period]]) =>
    quotas.settle(session, key, period, entries.get(place) ?? []),
  );
  await Promise.all(settled);
}
