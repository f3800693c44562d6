import type { AuditCheck, SealedTable } from "../../../domain/ports/audit.ts";
import { ACCOUNT_ID } from "../account-store/account-table.ts";
import { NO_PERIOD } from "../books-table.ts";
import { labelOf, textOf } from "../label-table.ts";

/** One pass over the tables: rows, with the figures that some checks compare. */
export interface Pass {
  /**
   * Returns the place of a row, as `AuditDifference` names it, and the figures. It leaves out rows that are obviously right, so it
   * returns few.
   */
  readonly rows: string;
  /** The order in which the first difference is found. */
  readonly order: string;
  /** The stored figure of each check and the expected one. They differ, or the third expression says that they are wrong. */
  readonly checks: {
    readonly [Check in AuditCheck]?: readonly [stored: string, expected: string, wrong?: string];
  };
  /** Where sealed rows of this table are right already, and the others can be looked at alone. */
  readonly open?: SealedTable;
  /** Whether each row is right or wrong for itself, whatever other rows of the table say. */
  readonly isOfRows?: true;
  /** Where all is right as long as these sums are. */
  readonly sums?: readonly SumName[];
}

/** What is compared as a single sum of all rows. */
export type SumName = "usage" | "quota" | "balance" | "held" | "owed";

/** The parts of an audit's statements that differ between databases. */
export interface AuditDialect {
  /** How many values a JSON list has; none if it is no list. */
  readonly lengthOf: (list: string) => string;
  /** The sum of a charge's lines, which are a JSON list. */
  readonly amountOf: (lines: string) => string;
  /** Whether the terms of a callback, in JSON, tell of an event. */
  readonly tellsOf: (event: string, terms: string) => string;
  /** The name of a whole table inside a statement that calls a part of it by the table's name. */
  readonly whole: (table: SealedTable) => string;
  /** A join that reads its left side first, where the database has one. */
  readonly join: string;
  /** The first parameter of a statement. */
  readonly parameter: string;
  /** Pairs of numbers in a parameter, a JSON list of lists, as rows of the columns `low` and `high`. */
  readonly pairsIn: (parameter: 1 | 2) => string;
  /** The lower of two numbers. */
  readonly lower: (one: string, other: string) => string;
  /** The day up to which usage was not counted though tasks had ended, or -1, as the rows of a table with a column `day`. */
  readonly uncounted: string;
}

/** Whether a ledger entry moves no money in the way that the program writes it. */
const MISSHAPEN = `not case entry.kind
  when 'credit' then entry.balance_delta_micros > 0 and entry.held_delta_micros = 0
  when 'adjustment' then entry.balance_delta_micros < 0 and entry.held_delta_micros = 0
  when 'refund' then entry.balance_delta_micros > 0 and entry.held_delta_micros = 0
  when 'hold' then entry.balance_delta_micros = 0 and entry.held_delta_micros > 0
  when 'release' then entry.balance_delta_micros = 0 and entry.held_delta_micros < 0
  when 'capture' then entry.balance_delta_micros < 0 and entry.held_delta_micros = entry.balance_delta_micros
  else false end`;

/** Whether a task has an address that must receive its end. */
export const owes = ({ tellsOf }: AuditDialect) =>
  `(task.callback_url is not null and case when task.callback_terms is null then task.status in ('completed', 'failed')
    else ${tellsOf("task.status", "task.callback_terms")} end)`;

const ORPHANED = `case when entry.kind in ('credit', 'adjustment') then entry.task_number is not null or entry.entries is not null
  when entry.entries is not null then entry.task_number is not null
  else task.id is null end`;

/** Leaves out the days up to the one on which usage was first counted, if tasks had ended before. */
const usage = ({ lengthOf, uncounted }: AuditDialect) => `
  with since (day) as (
    ${uncounted}
  ),
  ended as (
    select ${ACCOUNT_ID} as account_id, ${textOf("key_label")} as key_id, ${textOf("model_label")} as model, day,
      sum(tasks) as tasks, sum(outputs) as outputs, sum(charged) as charged
    from (
      select account_number, key_label, model_label, completed_at / 86400000 as day,
        count(*) as tasks, sum(${lengthOf("results")}) as outputs, sum(charged_micros) as charged
      from task where stage = 'terminal' group by 1, 2, 3, 4
      union all
      select account_number, key_label, model_label, day, tasks, outputs, charged_micros from books_day
    ) as done
    group by account_number, key_label, model_label, day
  ),
  counted as (
    select account_id, key_id, model, day, completed + failed + cancelled as tasks, outputs, charged_micros as charged
    from usage_day
  )
  select coalesce(ended.account_id, counted.account_id) as "accountId", coalesce(ended.key_id, counted.key_id) as "keyId",
    coalesce(ended.model, counted.model) as model, coalesce(ended.day, counted.day) as day,
    coalesce(counted.tasks, 0) as tasks, coalesce(ended.tasks, 0) as "endedTasks",
    coalesce(counted.outputs, 0) as outputs, coalesce(ended.outputs, 0) as "endedOutputs",
    coalesce(counted.charged, 0) as charged, coalesce(ended.charged, 0) as "endedCharged"
  from ended full join counted using (account_id, day, key_id, model)
  where coalesce(ended.day, counted.day) > (select day from since)`;

const SPOKEN_ALIKE: readonly Pass[] = [
  {
    rows: `
      select account.id as "accountId", account.balance_micros as balance, account.held_micros as held,
        coalesce(entries.balance, 0) as moved, coalesce(entries.held, 0) as "movedHolds"
      from account left join (
        select account_number, sum(balance_delta_micros) as balance, sum(held_delta_micros) as held
        from ledger_entry group by account_number
      ) as entries on entries.account_number = account.number`,
    order: '"accountId"',
    checks: { account_balance: ["balance", "moved"], account_held: ["held", '"movedHolds"'] },
    sums: ["balance", "held"],
  },
  {
    rows: `
      select account.id as "accountId", account.held_micros as held, coalesce(live.held, 0) as promised
      from account left join (
        select account_number, sum(held_micros) as held from task where pool is not null group by account_number
      ) as live on live.account_number = account.number`,
    order: '"accountId"',
    checks: { account_live: ["held", "promised"] },
    open: "task",
  },
  {
    rows: `
      select id as "accountId", held_micros as held, balance_micros + credit_limit_micros as available
      from account where mode = 'prepaid'`,
    order: '"accountId"',
    checks: { account_limit: ["held", "available", "held > available"] },
  },
  {
    rows: `
      select (select id from account where number = entry.account_number) as "accountId",
        coalesce(task.id, (select id from task where number = entry.task_number)) as "taskId", entry.id as entry,
        entry.balance_delta_micros as moved, entry.held_delta_micros as held,
        ${ORPHANED} as "isOrphaned", ${MISSHAPEN} as "isMisshapen"
      from ledger_entry as entry left join task on task.number = entry.task_number and task.account_number = entry.account_number
      where ${ORPHANED} or ${MISSHAPEN}`,
    order: "entry",
    checks: {
      ledger_orphan: ["moved", "0", '"isOrphaned"'],
      ledger_shape: ["moved", "held", '"isMisshapen"'],
    },
    open: "ledger_entry",
    isOfRows: true,
  },
  {
    rows: `
      select account.id as "accountId", coalesce(entries.charged, 0) as entered, coalesce(days.charged, 0) as charged,
        coalesce(entries.held, 0) as held
      from account left join (
        select account_number, sum(-balance_delta_micros) filter (where kind = 'capture') as charged, sum(held_delta_micros) as held
        from ledger_entry where entries is not null group by account_number
      ) as entries on entries.account_number = account.number
      left join (
        select account_number, sum(charged_micros) as charged from books_day group by account_number
      ) as days on days.account_number = account.number`,
    order: '"accountId"',
    checks: { sums_charged: ["entered", "charged"], sums_held: ["held", "0"] },
  },
  {
    rows: `
      select ${ACCOUNT_ID} as "accountId", ${textOf("key_label")} as "keyId", ${textOf("model_label")} as model, day, tasks, completed
      from books_day where not (completed between 0 and tasks and outputs >= completed
        and (costed > 0 or (cost_micros = 0 and charged_here_micros = 0 and charged_once_micros = 0)))`,
    order: '"accountId", day, "keyId", model',
    checks: { sums_shape: ["completed", "tasks", "true"] },
  },
  {
    rows: `
      select period.key_id as "keyId", period.day as day,
        coalesce(quota.reserved_micros, 0) as reserved, coalesce(live.held, 0) as held
      from (
        select key_id, period as day from key_quota
        union select ${textOf("key_label")}, quota_period from task where pool is not null and quota_period is not null
      ) as period
      left join key_quota as quota on quota.key_id = period.key_id and quota.period = period.day
      left join (
        select ${textOf("key_label")} as key_id, quota_period, sum(held_micros) as held from task
        where pool is not null and quota_period is not null group by key_label, quota_period
      ) as live on live.key_id = period.key_id and live.quota_period = period.day`,
    order: '"keyId", day',
    checks: { quota_reserved: ["reserved", "held"] },
    open: "task",
  },
  // Counting for a key can begin within a period, with what the key was charged since the period's first day.
  // That amount is not stored, so in a key's first period any part of the charges outside all periods is
  // right.
  {
    rows: `
      with first (key_id, period) as (select key_id, min(period) from key_quota group by key_id),
      spent as (
        select ${textOf("key_label")} as key_id, quota_period, sum(charged) as charged from (
          select key_label, quota_period, sum(charged_micros) as charged from task
          where stage = 'terminal' and quota_period is not null group by key_label, quota_period
          union all
          select key_label, quota_period, charged_micros from books_day where quota_period <> ${NO_PERIOD}
        ) as done
        group by key_label, quota_period
      ),
      ended as (
        select key_label, quota_period, completed_at / 86400000 as day, charged_micros from task where stage = 'terminal'
        union all
        select key_label, quota_period, day, charged_micros from books_day
      ),
      before as (
        select first.key_id, sum(ended.charged_micros) as charged from first
        cross join ended
        left join key_quota as own on own.key_id = first.key_id and own.period = ended.quota_period
        where ended.key_label = ${labelOf("first.key_id")} and ended.day >= first.period and own.key_id is null
        group by first.key_id
      )
      select quota.key_id as "keyId", quota.period as day, quota.used_micros as used, coalesce(spent.charged, 0) as charged,
        coalesce(before.charged, 0) as "chargedBefore"
      from key_quota as quota
      left join spent on spent.key_id = quota.key_id and spent.quota_period = quota.period
      left join first on first.key_id = quota.key_id and first.period = quota.period
      left join before on before.key_id = first.key_id`,
    order: '"keyId", day',
    checks: { quota_used: ["used", "charged", 'used - charged not between 0 and "chargedBefore"'] },
    sums: ["quota"],
  },
  {
    rows: `
      select callback.account_id as "accountId", callback.task_id as "taskId", callback.attempts as attempts,
        count(send.sequence) filter (where send.is_redelivery = 0) as recorded
      from callback left join callback_attempt as send on send.callback_id = callback.id
      group by callback.id having callback.attempts <> count(send.sequence) filter (where send.is_redelivery = 0)
          or callback.sends <> count(send.sequence)`,
    order: '"taskId"',
    checks: { callback_attempts: ["attempts", "recorded", "true"] },
  },
];

/** Every pass of an audit but the one over the tasks. */
export const passesIn = (dialect: AuditDialect): readonly Pass[] => [
  ...SPOKEN_ALIKE,
  {
    rows: usage(dialect),
    order: '"accountId", day, "keyId", model',
    checks: {
      usage_tasks: ["tasks", '"endedTasks"'],
      usage_outputs: ["outputs", '"endedOutputs"'],
      usage_charged: ["charged", '"endedCharged"'],
    },
    sums: ["usage"],
  },
  {
    rows: `
      select (select id from account where number = task.account_number) as "accountId", task.id as "taskId", case when callback.id is not null then 1 else 0 end as has,
        case when ${owes(dialect)} then 1 else 0 end as owes
      from task left join callback on callback.task_id = task.id and callback.event = task.status
      where (callback.id is not null) <> ${owes(dialect)}`,
    order: '"taskId"',
    checks: { callback_owed: ["has", "owes"] },
    open: "task",
    isOfRows: true,
    sums: ["owed"],
  },
];
