import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, unique } from "drizzle-orm/sqlite-core";
import type { AttemptId, LaneId, TaskId } from "../../../domain/ids.ts";
import type { Json } from "../../../domain/json.ts";
import { providerOf } from "../../../domain/lane.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { ConsideredWay } from "../../../domain/task/routing.ts";
import type { Attempt, AttemptOutput, AttemptState, AttemptTrace, Usage } from "../../../domain/task/task.ts";
import { textOf } from "../label-table.ts";
import { optional, type RawRow } from "../raw-row.ts";
import { numberOfTask, TASK_ID } from "./task-table.ts";

export const attempt = sqliteTable(
  "attempt",
  {
    id: text().$type<AttemptId>().primaryKey(),
    taskNumber: numberOfTask(),
    sequence: integer().notNull(),
    /** The lane: the provider, and its account where that is not `default`. */
    provider: text().$type<LaneId>().notNull(),
    upstreamModel: text("upstream_model").notNull(),
    state: text().$type<AttemptState>().notNull(),
    operation: text({ mode: "json" }).$type<Json>(),
    outputs: text({ mode: "json" }).$type<readonly AttemptOutput[]>(),
    /** The text, unless many attempts have it: then it is a label. */
    usage: text({ mode: "json" }).$type<Usage>(),
    usageLabel: integer("usage_label"),
    detail: text(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
    /** What the upstream charges the operator for it, if known. */
    costMicros: integer("cost_micros"),
    acceptedAt: integer("accepted_at"),
    madeAt: integer("made_at"),
    terms: text({ mode: "json" }).$type<Json>(),
    /** Written by `begin`, never changed. */
    considered: text({ mode: "json" }).$type<readonly StoredWay[]>(),
    /** Written with transitions that are written anyway. */
    trace: text({ mode: "json" }).$type<AttemptTrace>(),
  },
  (table) => [
    unique("attempt_of_task").on(table.taskNumber, table.sequence),
    // Finds the few attempts whose outcome nobody knows.
    index("attempt_lost").on(table.endedAt).where(sql`"state" = 'ambiguous'`),
    // Sums up what a day cost without reading the attempts themselves.
    index("attempt_cost")
      .on(table.endedAt, table.provider, table.upstreamModel, table.costMicros)
      .where(sql`"cost_micros" is not null`),
  ],
);

/** A way in few bytes: an attempt may have chosen among many. */
type StoredWay = readonly [ConsideredWay["lane"], string, ConsideredWay["verdict"]];

export function storedWays(ways: Attempt["considered"]): readonly StoredWay[] | undefined {
  return ways?.map(({ lane, upstreamModel, verdict }) => [lane, upstreamModel, verdict]);
}

function consideredIn(row: AttemptRow): Attempt["considered"] {
  const ways = optional<readonly StoredWay[]>(row.considered);
  return ways?.map(([lane, upstreamModel, verdict]) => ({ lane, upstreamModel, verdict }));
}

export type AttemptRow = RawRow<typeof attempt> & {
  readonly task_id: TaskId;
  readonly whole_usage: string | null;
};
/** The columns of `AttemptRow`, as SQL. */
export const ATTEMPT_COLUMNS = `*, ${TASK_ID} as task_id, coalesce(usage, ${textOf("usage_label")}) as whole_usage`;

export function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    taskId: row.task_id,
    sequence: row.sequence,
    provider: providerOf(row.provider),
    lane: row.provider,
    upstreamModel: row.upstream_model,
    state: row.state,
    terms: optional(row.terms),
    operation: optional(row.operation),
    outputs: optional(row.outputs),
    usage: optional(row.whole_usage),
    costMicros: row.cost_micros === null ? undefined : toMicros(row.cost_micros),
    detail: row.detail ?? undefined,
    considered: consideredIn(row),
    trace: optional(row.trace),
    startedAt: row.started_at,
    acceptedAt: row.accepted_at ?? undefined,
    madeAt: row.made_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}
