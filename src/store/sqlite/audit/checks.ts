import type { AuditCheck } from "../../../domain/ports/audit.ts";

/** Statements that find the first row that a check objects to, with the stored figure and the expected one. */
export const CHECKS = {
  account_balance: ledgerSum("balance_micros", "balance_delta_micros"),
  account_held: ledgerSum("held_micros", "held_delta_micros"),
  account_live: `
    select account.id as accountId, account.held_micros as stored, coalesce(live.held, 0) as expected
    from account left join (
      select account_id, sum(held_micros) as held from task where pool is not null group by account_id
    ) as live on live.account_id = account.id
    where account.held_micros <> coalesce(live.held, 0) order by account.id limit 1`,
  account_limit: `
    select id as accountId, held_micros as stored, balance_micros + credit_limit_micros as expected
    from account where mode = 'prepaid' and held_micros > balance_micros + credit_limit_micros order by id limit 1`,
  // Whether an entry has a form that the program writes.
  ledger_orphan: `
    select entry.account_id as accountId, entry.task_id as taskId, entry.id as entry,
      entry.balance_delta_micros as stored, 0 as expected
    from ledger_entry as entry left join task on task.id = entry.task_id and task.account_id = entry.account_id
    where case when entry.kind in ('credit', 'adjustment') then entry.task_id is not null else task.id is null end
    order by entry.id limit 1`,
  ledger_shape: `
    select account_id as accountId, task_id as taskId, id as entry,
      balance_delta_micros as stored, held_delta_micros as expected
    from ledger_entry where not case kind
      when 'credit' then balance_delta_micros > 0 and held_delta_micros = 0
      when 'adjustment' then balance_delta_micros < 0 and held_delta_micros = 0
      when 'refund' then balance_delta_micros > 0 and held_delta_micros = 0
      when 'hold' then balance_delta_micros = 0 and held_delta_micros > 0
      when 'release' then balance_delta_micros = 0 and held_delta_micros < 0
      when 'capture' then balance_delta_micros < 0 and held_delta_micros = balance_delta_micros
      else 0 end
    order by id limit 1`,
  quota_reserved: `
    select period.key_id as keyId, period.day as day,
      coalesce(quota.reserved_micros, 0) as stored, coalesce(live.held, 0) as expected
    from (
      select key_id, period as day from key_quota
      union select key_id, quota_period from task where pool is not null and quota_period is not null
    ) as period
    left join key_quota as quota on quota.key_id = period.key_id and quota.period = period.day
    left join (
      select key_id, quota_period, sum(held_micros) as held from task
      where pool is not null and quota_period is not null group by key_id, quota_period
    ) as live on live.key_id = period.key_id and live.quota_period = period.day
    where coalesce(quota.reserved_micros, 0) <> coalesce(live.held, 0)
    order by period.key_id, period.day limit 1`,
  // Counting for a key can begin within a period, with what the key was charged since the period's first day.
  // That amount is not stored, so in a key's first period any part of the charges outside all periods is
  // right.
  quota_used: `
    with first (key_id, period) as (select key_id, min(period) from key_quota group by key_id),
    spent as (
      select key_id, quota_period, sum(charged_micros) as charged from task
      where stage = 'terminal' and quota_period is not null group by key_id, quota_period
    ),
    before as (
      select task.key_id, sum(task.charged_micros) as charged from first
      cross join task on task.key_id = first.key_id
      left join key_quota as own on own.key_id = task.key_id and own.period = task.quota_period
      where task.stage = 'terminal' and task.completed_at / 86400000 >= first.period and own.key_id is null
      group by task.key_id
    )
    select quota.key_id as keyId, quota.period as day, quota.used_micros as stored, coalesce(spent.charged, 0) as expected
    from key_quota as quota
    left join spent on spent.key_id = quota.key_id and spent.quota_period = quota.period
    left join first on first.key_id = quota.key_id and first.period = quota.period
    left join before on before.key_id = first.key_id
    where quota.used_micros - coalesce(spent.charged, 0) not between 0 and coalesce(before.charged, 0)
    order by quota.key_id, quota.period limit 1`,
  usage_tasks: daySum("completed + failed + cancelled", "1"),
  usage_outputs: daySum("outputs", "json_array_length(results)"),
  usage_charged: daySum("charged_micros", "charged_micros"),
  callback_owed: `
    select task.account_id as accountId, task.id as taskId, callback.id is not null as stored,
      task.callback_url is not null and task.status in ('completed', 'failed') as expected
    from task left join callback on callback.task_id = task.id
    where (callback.id is not null) <> (task.callback_url is not null and task.status in ('completed', 'failed'))
    order by task.id limit 1`,
  callback_attempts: `
    select callback.account_id as accountId, callback.task_id as taskId, callback.attempts as stored,
      count(send.sequence) filter (where send.is_redelivery = 0) as expected
    from callback left join callback_attempt as send on send.callback_id = callback.id
    group by callback.id
    having callback.attempts <> expected or callback.sends <> count(send.sequence)
    order by callback.task_id limit 1`,
} as const satisfies { readonly [Check in AuditCheck]?: string };

function ledgerSum(column: string, delta: string): string {
  return `
    select account.id as accountId, account.${column} as stored, coalesce(entries.total, 0) as expected
    from account left join (
      select account_id, sum(${delta}) as total from ledger_entry group by account_id
    ) as entries on entries.account_id = account.id
    where account.${column} <> coalesce(entries.total, 0) order by account.id limit 1`;
}

/** Leaves out the days up to the one on which usage was first counted, if tasks had ended before. */
function daySum(stored: string, ofTask: string): string {
  return `
    with since (day) as (
      select iif(exists (
        select 1 from task where stage = 'terminal' and completed_at >= made.applied_at and completed_at < counted.applied_at
      ), counted.applied_at / 86400000, -1)
      from schema_migration as made cross join schema_migration as counted on counted.number = 2
      where made.number = 1
    ),
    ended as (
      select account_id, key_id, model, completed_at / 86400000 as day, sum(${ofTask}) as total
      from task where stage = 'terminal' group by 1, 2, 3, 4
    ),
    counted as (select account_id, key_id, model, day, ${stored} as total from usage_day)
    select coalesce(ended.account_id, counted.account_id) as accountId, coalesce(ended.key_id, counted.key_id) as keyId,
      coalesce(ended.model, counted.model) as model, coalesce(ended.day, counted.day) as day,
      coalesce(counted.total, 0) as stored, coalesce(ended.total, 0) as expected
    from ended full join counted using (account_id, day, key_id, model)
    where coalesce(ended.total, 0) <> coalesce(counted.total, 0)
      and coalesce(ended.day, counted.day) > (select day from since)
    order by 1, 4, 2, 3 limit 1`;
}
