/** Checks what keys reserved and used of their quotas; statements as in accounts.ts. */
export const QUOTA_CHECKS = {
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
} as const;
