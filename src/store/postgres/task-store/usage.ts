import type { TaskUsage } from "../../../domain/money/usage.ts";
import type { TaskRow } from "../../sqlite/task-store/task-table.ts";
import { asRows, insertion } from "../given-rows.ts";
import type { Session } from "../session.ts";

type Owner = Pick<TaskRow, "account_id" | "key_id" | "model">;
type UsageRow = Owner & Omit<TaskUsage, "charged"> & { readonly charged: number };

const COUNTS = [
  "completed",
  "failed",
  "cancelled",
  "outputs",
  "charged",
] as const satisfies (keyof TaskUsage)[];
const ADD = insertion<UsageRow>(
  "usage_day",
  {
    ...{ account_id: "text", day: "bigint", key_id: "text", model: "text" },
    ...{ completed: "bigint", failed: "bigint", cancelled: "bigint", outputs: "bigint", charged: "bigint" },
  },
  {
    ...{ account_id: "account_id", day: "day", key_id: "key_id", model: "model" },
    ...{ completed: "completed", failed: "failed", cancelled: "cancelled", outputs: "outputs" },
    charged_micros: "charged",
  },
  `on conflict (account_id, day, key_id, model) do update set completed = usage_day.completed + excluded.completed,
     failed = usage_day.failed + excluded.failed, cancelled = usage_day.cancelled + excluded.cancelled,
     outputs = usage_day.outputs + excluded.outputs, charged_micros = usage_day.charged_micros + excluded.charged_micros`,
);

/** Adds tasks to the day's usage of their account, keys and models. */
export async function addUsage(
  session: Session,
  ended: readonly { readonly of: Owner; readonly usage: TaskUsage }[],
): Promise<void> {
  if (ended.length === 0) return;
  // One statement cannot add to a row twice.
  const sums = new Map<string, UsageRow>();
  for (const { of, usage } of ended) {
    const { account_id, key_id, model } = of;
    const place = `${usage.day} ${key_id} ${model}`;
    const before = sums.get(place);
    const counts = COUNTS.map((count) => [count, usage[count] + (before?.[count] ?? 0)]);
    sums.set(place, { ...usage, account_id, key_id, model, ...Object.fromEntries(counts) });
  }
  await ADD.run(session, asRows([...sums.values()]));
}
