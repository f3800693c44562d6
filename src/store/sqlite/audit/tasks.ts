import type { Database } from "bun:sqlite";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { AuditDifference } from "../../../domain/ports/audit.ts";
import { textOf } from "../label-table.ts";

/** The lines of a charge, as SQL. */
const CHARGE = `coalesce(charge, ${textOf("charge_label")})`;

/** The stored and the expected figure of each check, for a task joined with the sums of its ledger entries. */
const FIGURES = {
  task_hold: ["coalesce(hold, 0)", "held_micros"],
  task_capture: ["coalesce(-capture, 0)", "iif(pool is null, coalesce(charged_micros, 0), 0)"],
  task_release: ["coalesce(-release, 0)", "iif(pool is null, held_micros - coalesce(charged_micros, 0), 0)"],
  task_charge: [
    "coalesce(charged_micros, 0)",
    // Tasks that ended before price lines were stored have none.
    // Most have one line, which need not be summed up.
    `case when ${CHARGE} is null then coalesce(charged_micros, 0)
       when json_array_length(${CHARGE}) = 1 then coalesce(${CHARGE} ->> '$[0].amount', 0)
       else (select coalesce(sum(value ->> '$.amount'), 0) from json_each(${CHARGE})) end`,
  ],
  task_refund: ["coalesce(refund, 0)", "min(coalesce(refund, 0), coalesce(charged_micros, 0))"],
} as const;
type TaskCheck = keyof typeof FIGURES;

// Safe: the names are those above.
const CHECKS = Object.keys(FIGURES) as TaskCheck[];

const TASKS_WITH_ENTRIES = `
  task left join (
    select account_number, task_number, sum(held_delta_micros) filter (where kind = 'hold') as hold,
      sum(balance_delta_micros) filter (where kind = 'capture') as capture,
      sum(held_delta_micros) filter (where kind = 'release') as release,
      sum(balance_delta_micros) filter (where kind = 'refund') as refund
    from ledger_entry where task_number is not null group by account_number, task_number
  ) as entries on entries.task_number = task.number and entries.account_number = task.account_number`;

/** Returns a function that finds the first wrong task of each check in one pass over all tasks and entries. */
export function prepareTaskChecks(db: Database): () => AuditDifference[] {
  const firsts = CHECKS.map((check) => {
    const [stored, expected] = FIGURES[check];
    return `min(task.id) filter (where ${stored} <> ${expected}) as ${check}`;
  });
  const atFault = db.prepare<{ [Check in TaskCheck]: TaskId | null }, []>(
    `select ${firsts.join(",\n")} from ${TASKS_WITH_ENTRIES}`,
  );
  const details = new Map(CHECKS.map((check) => [check, prepareDetail(check)]));

  function prepareDetail(check: TaskCheck) {
    const [stored, expected] = FIGURES[check];
    return db.prepare<{ accountId: AccountId; stored: string; expected: string }, [id: string]>(
      `select (select id from account where number = task.account_number) as accountId, cast(${stored} as text) as stored, cast(${expected} as text) as expected
       from ${TASKS_WITH_ENTRIES} where task.id = ?`,
    );
  }

  return () => {
    const found = atFault.get();
    return CHECKS.flatMap((check): AuditDifference[] => {
      const taskId = found?.[check] ?? undefined;
      const figures = taskId && details.get(check)?.get(taskId);
      if (!taskId || !figures) return [];
      const { accountId, stored, expected } = figures;
      return [{ check, taskId, accountId, stored: BigInt(stored), expected: BigInt(expected) }];
    });
  };
}
