import type { AccountId, KeyId, ModelId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import type { UsageDay } from "../../domain/usage.ts";
import type { Connection } from "./connection.ts";

interface DayRow {
  readonly day: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly outputs: number;
  readonly charged_micros: number;
}

/** Usage in SQLite; see task-store/usage.ts for how it gets there. */
export function createUsageStore({ db, read }: Connection): UsageStore {
  const days = db.prepare<DayRow, [account: AccountId, from: number, to: number]>(
    `select day, sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
       sum(outputs) as outputs, sum(charged_micros) as charged_micros
     from usage_day where account_id = ? and day between ? and ? group by day order by day`,
  );
  // From day to day by the primary key, past what other keys used on each.
  const charged = db.prepare<{ charged: number }, [account: AccountId, key: KeyId]>(
    `with recursive used (day) as (
       select min(day) from usage_day where account_id = ?1
       union all
       select (select min(day) from usage_day where account_id = ?1 and day > used.day) from used where day is not null
     )
     select coalesce(sum(charged_micros), 0) as charged from used
     cross join usage_day on account_id = ?1 and usage_day.day = used.day and key_id = ?2`,
  );
  const live = db.prepare<{ count: number }, [account: AccountId, key: KeyId, atMost: number]>(
    `select count(*) as count from (select 1 from task indexed by task_live
       where account_id = ? and key_id = ? and pool is not null limit ?)`,
  );
  // Attempts and not tasks, for of a long queue there are none.
  const durations = db.prepare<{ model: ModelId; duration_ms: number }, [limit: number]>(
    `select model, completed_at - started_at as duration_ms
     from (select task_id, state from attempt order by rowid desc limit ?) as latest
     cross join task on task.id = latest.task_id
     where latest.state = 'done' and task.status = 'completed'`,
  );
  return {
    days: async (account, from, to) => read(() => days.all(account, from, to).map(toUsageDay)),
    chargedTo: async (account, key) => read(() => toMicros(charged.get(account, key)?.charged ?? 0)),
    liveTasks: async (account, key, atMost) => read(() => live.get(account, key, atMost)?.count ?? 0),
    recentDurations: async (limit) =>
      read(() => durations.all(limit).map((row) => ({ model: row.model, durationMs: row.duration_ms }))),
  };
}

function toUsageDay({ charged_micros: charged, ...row }: DayRow): UsageDay {
  return { ...row, charged: toMicros(charged) };
}
