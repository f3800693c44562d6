import type { Database } from "bun:sqlite";
import type { TaskUsage } from "../../../domain/money/usage.ts";
import type { Task } from "../../../domain/task/task.ts";

/** Returns a function that adds a task to the day's usage of its account, key and model. Raw statements, because every task ends. */
export function prepareUsage(db: Database) {
  const add = db.prepare(
    `insert into usage_day (account_id, day, key_id, model, completed, failed, cancelled, outputs, charged_micros)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set completed = completed + excluded.completed, failed = failed + excluded.failed,
       cancelled = cancelled + excluded.cancelled, outputs = outputs + excluded.outputs,
       charged_micros = charged_micros + excluded.charged_micros`,
  );
  return (of: Pick<Task, "accountId" | "keyId" | "model">, usage: TaskUsage): void => {
    const { day, completed, failed, cancelled, outputs, charged } = usage;
    add.run(of.accountId, day, of.keyId, of.model, completed, failed, cancelled, outputs, charged);
  };
}
