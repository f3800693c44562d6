import type { Database } from "bun:sqlite";
import type { AccountId, LaneId, ModelId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { RecentEnding, RecentEndings } from "../../../domain/overview.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { named } from "./task-table.ts";

/** Accounts and, of each, tasks that are read: about a millisecond in all. */
export const MOST_ACCOUNTS = 32;
export const MOST_ROWS = 512;

export interface EndingRow {
  readonly model: ModelId;
  readonly lane: LaneId;
  readonly status: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly charged_micros: number | null;
}

/**
 * The body of `TaskStore.recentEndings`. An ended task changes no more, so that an account's tasks in the order of their changes have
 * those that ended in the order of their ends.
 */
export function prepareRecentEndings(db: Database): (since: number) => RecentEndings | undefined {
  const accounts = db.prepare<{ id: AccountId }, []>(`select id from account limit ${MOST_ACCOUNTS + 1}`);
  const latest = db.prepare<EndingRow, [account: AccountId, limit: number]>(
    `select ${named("model")}, lane, status, created_at, completed_at, charged_micros from task indexed by task_change
     where account_number = ${accountNumber("?")} and change >= 0 order by change desc limit ?`,
  );

  return (since) => {
    const found = accounts.all();
    if (found.length > MOST_ACCOUNTS) return undefined;
    const limit = Math.floor(MOST_ROWS / Math.max(1, found.length));
    return endingsIn(
      since,
      found.map(({ id }) => endingsOf(latest.iterate(id, limit), since, limit)),
    );
  };
}

/**
 * An account's ends, latest first, and since when they are all there.
 *
 * @param rows its tasks, latest change first: `limit` of them, or all
 */
export function endingsOf(rows: Iterable<EndingRow>, since: number, limit: number): RecentEndings {
  const tasks: RecentEnding[] = [];
  let read = 0;
  let lastSeen = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    read += 1;
    if (row.completed_at === null) continue;
    lastSeen = row.completed_at;
    if (lastSeen < since) return { since, tasks };
    if (row.status !== "cancelled") tasks.push(endingOf(row, lastSeen));
  }
  return { since: read < limit ? since : lastSeen, tasks };
}

/** The ends of all accounts; undefined where of one of them nothing is known. */
export function endingsIn(since: number, parts: readonly RecentEndings[]): RecentEndings | undefined {
  const from = Math.max(since, ...parts.map((part) => part.since));
  if (from === Number.POSITIVE_INFINITY) return undefined;
  return {
    since: from,
    tasks: parts.flatMap(({ tasks }) => tasks.filter(({ endedAt }) => endedAt >= from)),
  };
}

function endingOf(row: EndingRow, endedAt: number): RecentEnding {
  return {
    model: row.model,
    provider: row.lane,
    status: row.status === "completed" ? "completed" : "failed",
    durationMs: endedAt - row.created_at,
    charged: toMicros(row.charged_micros ?? 0),
    endedAt,
  };
}
