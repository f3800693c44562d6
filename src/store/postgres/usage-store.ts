import type { AccountId, KeyId, ModelId } from "../../domain/ids.ts";
import { toSum } from "../../domain/money/money.ts";
import type { UsageDay } from "../../domain/money/usage.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { labelOf } from "../sqlite/label-table.ts";
import { LIVE, named } from "../sqlite/task-store/task-table.ts";
import { chargedSince, chargedSinceEach } from "./charged-since.ts";
import type { Connection } from "./connection.ts";
import type { Readers } from "./replica.ts";
import { statement } from "./session.ts";
import { prepareSpentSince } from "./spent-since.ts";
import { usageReport } from "./usage-report.ts";

type DayRow = Omit<UsageDay, "charged"> & { readonly charged: string };
const DAYS = statement<DayRow, [account: AccountId, from: number, to: number]>(
  `select day, sum(completed)::bigint as completed, sum(failed)::bigint as failed, sum(cancelled)::bigint as cancelled,
     sum(outputs)::bigint as outputs, sum(charged_micros)::text as charged
   from usage_day where account_id = $1 and day between $2 and $3 group by day order by day`,
);
const LIVE_TASKS = statement<{ count: number }, [account: AccountId, key: KeyId, atMost: number]>(
  `select count(*)::bigint as count from (select 1 from task
     where account_number = ${accountNumber("$1")} and key_label = ${labelOf("$2")} and ${LIVE} limit $3) as live`,
);
/** A limit that is stated makes the planner go by the index: one that is a parameter might be a tenth of the table. */
const MOST_DURATIONS = 1_000;
// Reads attempts, not tasks: a long queue has none. Their ids begin with the time at which they were made.
const DURATIONS = statement<{ model: ModelId; durationMs: number }, [limit: number]>(
  `select ended.* from (select * from (select task_number, state from attempt order by id desc limit ${MOST_DURATIONS}) as newest limit $1) as latest
   cross join lateral (select ${named("model")}, completed_at - started_at as "durationMs" from task
     where task.number = latest.task_number and status = 'completed' limit 1) as ended
   where latest.state = 'done'`,
);

/** Reads usage from PostgreSQL; task-store/usage.ts writes it. @param readers for reports, which may be some seconds old */
export function createUsageStore(
  connection: Pick<Connection, "read" | "readAtOnce">,
  readers: Readers = connection,
): UsageStore {
  const { read } = connection;
  return {
    // These decide on what a key may do: they see the last write.
    chargedTo: (account, key) => read((session) => chargedSince(session, account, key, 0)),
    chargedSince: (keys, day) => readers.read((session) => chargedSinceEach(session, keys, day)),
    liveTasks: (account, key, atMost) =>
      read(async (session) => (await LIVE_TASKS.get(session, account, key, atMost))?.count ?? 0),
    days: (account, from, to) =>
      read(async (session) => {
        const rows = await DAYS.all(session, account, from, to);
        return rows.map((row) => ({ ...row, charged: toSum(row.charged) }));
      }),
    report: (query) => readers.readAtOnce(async (session) => (await usageReport(session, query)).lines),
    spentSince: prepareSpentSince(connection),
    recentDurations: (limit) => read((session) => DURATIONS.all(session, limit)),
  };
}
