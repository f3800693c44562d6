/*
 * Each check is a statement that finds the first wrong row, with the stored figure and the expected one.
 */

/** Checks an account's balance and holds. */
export const ACCOUNT_CHECKS = {
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
} as const;

function ledgerSum(column: string, delta: string): string {
  return `
    select account.id as accountId, account.${column} as stored, coalesce(entries.total, 0) as expected
    from account left join (
      select account_id, sum(${delta}) as total from ledger_entry group by account_id
    ) as entries on entries.account_id = account.id
    where account.${column} <> coalesce(entries.total, 0) order by account.id limit 1`;
}

/** Whether an entry has a form that the program writes. */
export const LEDGER_CHECKS = {
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
} as const;
