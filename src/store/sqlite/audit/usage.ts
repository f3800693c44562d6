/** The totals of each day; statements as in accounts.ts. */
export const USAGE_CHECKS = {
  usage_tasks: daySum("completed + failed + cancelled", "1"),
  usage_outputs: daySum("outputs", "json_array_length(results)"),
  usage_charged: daySum("charged_micros", "charged_micros"),
} as const;

/** Leaves out the days before usage was first counted, if tasks ended before. */
function daySum(stored: string, ofTask: string): string {
  return `
    with since (day) as (
      select case when counted.applied_at - made.applied_at < 60000 then -1 else counted.applied_at / 86400000 end
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
