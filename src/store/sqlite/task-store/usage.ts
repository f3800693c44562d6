import type { Database } from "bun:sqlite";
import type { AccountId, KeyId, ModelId } from "../../../domain/ids.ts";
import type { UsageDay } from "../../../domain/money/usage.ts";

/** Returns a function that adds a task to the day's usage of its account, key and model. Raw statements, because every task ends. */
export function prepareUsage(db: Database) {
  const add = db.prepare<
    never,
    [
      account: string,
      day: number,
      key: string,
      model: string,
      completed: number,
      failed: number,
      cancelled: number,
      outputs: number,
      charged: number,
    ]
  >(
    `insert into usage_day (account_id, day, key_id, model, completed, failed, cancelled, outputs, charged_micros)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set completed = completed + excluded.completed, failed = failed + excluded.failed,
       cancelled = cancelled + excluded.cancelled, outputs = outputs + excluded.outputs,
       charged_micros = charged_micros + excluded.charged_micros`,
  );
  return (
    of: { readonly account_id: AccountId; readonly key_id: KeyId; readonly model: ModelId },
    usage: UsageDay,
  ): void => {
    add.run(
      of.account_id,
      usage.day,
      of.key_id,
      of.model,
      usage.completed,
      usage.failed,
      usage.cancelled,
      usage.outputs,
      usage.charged,
    );
  };
}
