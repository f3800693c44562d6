/** Callbacks and their attempts; statements as in accounts.ts. */
export const CALLBACK_CHECKS = {
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
} as const;
