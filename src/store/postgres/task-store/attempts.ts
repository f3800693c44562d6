import type { TaskId } from "../../../domain/ids.ts";
import type { AttemptIntent } from "../../../domain/ports/claims.ts";
import type { AttemptState } from "../../../domain/task/task.ts";
import { endsAttempt, type Transition } from "../../../domain/task/transition.ts";
import { json } from "../../sqlite/raw-row.ts";
import { storedWays } from "../../sqlite/task-store/attempt-table.ts";
import { taskNumber } from "../../sqlite/task-store/task-table.ts";
import { asRows, given, insertion } from "../given-rows.ts";
import type { Labels } from "../labels.ts";
import { type Session, statement } from "../session.ts";

interface IntentRow {
  readonly id: string;
  readonly task_id: string;
  readonly sequence: number;
  readonly provider: string;
  readonly upstream_model: string;
  readonly terms: string | null;
  readonly considered: string | null;
  readonly started_at: number;
}

const INSERT = insertion<IntentRow>(
  "attempt",
  {
    ...{ id: "text", task_id: "text", sequence: "bigint", provider: "text", upstream_model: "text" },
    ...{ terms: "text", considered: "text", started_at: "bigint" },
  },
  {
    ...{ id: "id", task_number: taskNumber("given.task_id"), sequence: "sequence", provider: "provider" },
    ...{ upstream_model: "upstream_model", terms: "terms", considered: "considered", state: "'intent'" },
    started_at: "started_at",
  },
);

const CHANGE = {
  ...{ id: "text", task_id: "text", state: "text", operation: "text", outputs: "text", usage: "text" },
  ...{ usage_label: "bigint", detail: "text", ended_at: "bigint", cost_micros: "bigint", at: "bigint" },
  ...{ trace: "text", is_over: "boolean" },
} as const;
/** The change of an attempt, as `CHANGE` says. */
export type AttemptChangeRow = Readonly<Record<keyof typeof CHANGE, string | number | boolean | null>>;

/** Whether the usage is told now, as its text or as its label. */
const HAS_USAGE = "(given.usage is not null or given.usage_label is not null)";
const UPDATE = statement<never, [rows: string]>(
  `update attempt set state = given.state, operation = coalesce(given.operation, attempt.operation),
     outputs = case when is_over then null else coalesce(given.outputs, attempt.outputs) end,
     usage = case when ${HAS_USAGE} then given.usage else attempt.usage end,
     usage_label = case when ${HAS_USAGE} then given.usage_label else attempt.usage_label end,
     detail = coalesce(given.detail, attempt.detail), ended_at = coalesce(given.ended_at, attempt.ended_at),
     cost_micros = coalesce(given.cost_micros, attempt.cost_micros), trace = coalesce(given.trace, attempt.trace),
     accepted_at = coalesce(accepted_at, case when given.operation is not null then at end),
     made_at = coalesce(made_at, case when given.outputs is not null then at end)
   from ${given("$1", CHANGE)}
   where attempt.id = given.id and task_number = ${taskNumber("given.task_id")}`,
);
const LATEST = statement<{ state: AttemptState }, [id: string]>(
  `select state from attempt where task_number = ${taskNumber("$1")} order by sequence desc limit 1`,
);

/** Stores attempts, each as the given one of its task. */
export async function insertAttempts(
  session: Session,
  begun: readonly { readonly taskId: TaskId; readonly sequence: number; readonly intent: AttemptIntent }[],
): Promise<void> {
  if (begun.length === 0) return;
  const rows = begun.map(({ taskId, sequence, intent }): IntentRow => {
    const { id, lane, upstreamModel, at } = intent;
    const considered = json(storedWays(intent.considered));
    const chosen = { provider: lane, upstream_model: upstreamModel, terms: json(intent.terms), considered };
    return { id, task_id: taskId, sequence, ...chosen, started_at: at };
  });
  await INSERT.run(session, asRows(rows));
}

/** What a transition changes of its task's attempt; undefined for nothing. Asks for labels outside of the transaction. */
export async function attemptChange(
  labels: Labels,
  taskId: TaskId,
  transition: Transition,
): Promise<AttemptChangeRow | undefined> {
  const { attempt, at, to } = transition;
  if (attempt === undefined) return undefined;
  const { id, state, detail = null, costMicros = null } = attempt;
  const [usage, usageLabel] = await labels.columns(json(attempt.usage));
  const isOver = to === "terminal";
  return {
    ...{ id, task_id: taskId, state, operation: json(attempt.operation), outputs: json(attempt.outputs) },
    ...{ usage, usage_label: usageLabel, detail },
    ended_at: endsAttempt(transition) ? at : null,
    ...{ cost_micros: costMicros, at, trace: json(attempt.trace), is_over: isOver },
  };
}

/** @throws Error when a task does not have its attempt */
export async function updateAttempts(session: Session, rows: readonly AttemptChangeRow[]): Promise<void> {
  if (rows.length === 0) return;
  const changed = await UPDATE.run(session, asRows(rows));
  if (changed !== rows.length) throw new Error(`${changed} of ${rows.length} attempts are there.`);
}

export async function latestAttempt(session: Session, id: TaskId): Promise<AttemptState | undefined> {
  return (await LATEST.get(session, id))?.state;
}
