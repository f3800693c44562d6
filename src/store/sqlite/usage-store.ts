import type { AccountId, KeyId, ModelId } from "../../domain/ids.ts";
import { toSum } from "../../domain/money/money.ts";
import type { UsageDay } from "../../domain/money/usage.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { prepareChargedSince } from "./charged-since.ts";
import type { Connection } from "./connection.ts";
import { labelOf } from "./label-table.ts";
import { prepareSpentSince } from "./spent-since.ts";
import { LIVE, named } from "./task-store/task-table.ts";
import { prepareUsageReport } from "./usage-report.ts";

type DayRow = Omit<UsageDay, "charged"> & { readonly charged: string };

/** Reads usage from SQLite; task-store/usage.ts writes it. */
export function createUsageStore(connection: Connection): UsageStore {
  const { db, read } = connection;
  const days = db.prepare<DayRow, [account: AccountId, from: number, to: number]>(
    `select day, sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
       sum(outputs) as outputs, cast(sum(charged_micros) as text) as charged
     from usage_day where account_id = ? and day between ? and ? group by day order by day`,
  );
  const chargedSince = prepareChargedSince(db);
  const report = db.transaction(prepareUsageReport(db));
  const live = db.prepare<{ count: number }, [account: AccountId, key: KeyId, atMost: number]>(
    `select count(*) as count from (select 1 from task indexed by task_live
       where account_number = ${accountNumber("?")} and key_label = ${labelOf("?")} and ${LIVE} limit ?)`,
  );
  // Reads attempts, not tasks: a long queue has none.
  const durations = db.prepare<{ model: ModelId; durationMs: number }, [limit: number]>(
    `select ${named("model")}, completed_at - started_at as durationMs
     from (select task_number, state from attempt order by rowid desc limit ?) as latest
     cross join task on task.number = latest.task_number
     where latest.state = 'done' and task.status = 'completed'`,
  );
  return {
    days: async (account, from, to) =>
      read(() => days.all(account, from, to).map((row) => ({ ...row, charged: toSum(row.charged) }))),
    chargedTo: async (account, key) => read(() => chargedSince(account, key, 0)),
    chargedSince: async (keys, day) =>
      read(() => keys.map(({ id, accountId }) => chargedSince(accountId, id, day))),
    report: async (query) => read(() => report(query)),
    spentSince: prepareSpentSince(connection),
    liveTasks: async (account, key, atMost) => read(() => live.get(account, key, atMost)?.count ?? 0),
    recentDurations: async (limit) => read(() => durations.all(limit)),
  };
}
