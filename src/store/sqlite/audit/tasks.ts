import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { AuditDifference } from "../../../domain/ports/audit.ts";
import { textOf } from "../label-table.ts";
import type { AuditDialect } from "./checks.ts";

/** The lines of a charge, as SQL. */
const CHARGE = `coalesce(charge, ${textOf("charge_label")})`;

const TASK_CHECKS = ["task_hold", "task_capture", "task_release", "task_charge", "task_refund"] as const;
type TaskCheck = (typeof TASK_CHECKS)[number];

/** For each check, the first task that violates it. */
export type FirstWrong = { readonly [Check in TaskCheck]: TaskId | null };
/** The finding of a check about a task. Figures are text, because a number may not be exact. */
export interface WrongTask {
  readonly accountId: AccountId;
  readonly stored: string;
  readonly expected: string;
}

/** The stored and the expected figure of each check, for a task joined with the sums of its ledger entries. */
const figuresIn = (dialect: AuditDialect) =>
  ({
    task_hold: ["coalesce(hold, 0)", "held_micros"],
    task_capture: [
      "coalesce(-capture, 0)",
      "case when pool is null then coalesce(charged_micros, 0) else 0 end",
    ],
    task_release: [
      "coalesce(-release, 0)",
      "case when pool is null then held_micros - coalesce(charged_micros, 0) else 0 end",
    ],
    task_charge: [
      "coalesce(charged_micros, 0)",
      // Tasks that ended before price lines were stored have none.
      `case when ${CHARGE} is null then coalesce(charged_micros, 0) else ${dialect.amountOf(CHARGE)} end`,
    ],
    task_refund: ["coalesce(refund, 0)", dialect.lower("coalesce(refund, 0)", "coalesce(charged_micros, 0)")],
  }) as const satisfies Record<TaskCheck, readonly [stored: string, expected: string]>;

const TASKS_WITH_ENTRIES = `
  task left join (
    select account_number, task_number, sum(held_delta_micros) filter (where kind = 'hold') as hold,
      sum(balance_delta_micros) filter (where kind = 'capture') as capture,
      sum(held_delta_micros) filter (where kind = 'release') as release,
      sum(balance_delta_micros) filter (where kind = 'refund') as refund
    from ledger_entry where task_number is not null group by account_number, task_number
  ) as entries on entries.task_number = task.number and entries.account_number = task.account_number`;

/** Finds `FirstWrong` in one pass over all tasks and entries. */
export function firstWrongIn(dialect: AuditDialect): string {
  const figures = figuresIn(dialect);
  // Safe: the names are those above.
  const firsts = TASK_CHECKS.map((check) => {
    const [stored, expected] = figures[check];
    return `min(task.id) filter (where ${stored} <> ${expected}) as ${check}`;
  });
  return `select ${firsts.join(",\n")} from ${TASKS_WITH_ENTRIES}`;
}

/** Tells `WrongTask` of the task whose id is the parameter. */
export function wrongTaskIn(dialect: AuditDialect, check: TaskCheck): string {
  const [stored, expected] = figuresIn(dialect)[check];
  return `select (select id from account where number = task.account_number) as "accountId", cast(${stored} as text) as stored,
      cast(${expected} as text) as expected
    from ${TASKS_WITH_ENTRIES} where task.id = ${dialect.parameter}`;
}

/** What is reported about a wrong task. */
export function wrongTask(check: TaskCheck, taskId: TaskId, figures: WrongTask): AuditDifference {
  const { accountId, stored, expected } = figures;
  return { check, taskId, accountId, stored: BigInt(stored), expected: BigInt(expected) };
}

/** The checks that some task violates, each with its first task. */
export function wrongIn(found: FirstWrong | null | undefined): { check: TaskCheck; taskId: TaskId }[] {
  return TASK_CHECKS.flatMap((check) => {
    const taskId = found?.[check] ?? undefined;
    return taskId === undefined ? [] : [{ check, taskId }];
  });
}
