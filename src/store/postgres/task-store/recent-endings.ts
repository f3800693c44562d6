import type { RecentEndings } from "../../../domain/overview.ts";
import {
  type EndingRow,
  endingsIn,
  endingsOf,
  MOST_ACCOUNTS,
  MOST_ROWS,
} from "../../sqlite/task-store/recent-endings.ts";
import { named } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

const ACCOUNTS = statement<{ number: number }>(
  `select number from account order by id limit ${MOST_ACCOUNTS + 1}`,
);
const LATEST = statement<
  EndingRow & { readonly account: number },
  [accounts: readonly number[], limit: number]
>(
  `select task.* from unnest($1::bigint[]) as given (account) cross join lateral (
     select given.account, ${named("model")}, lane, status, created_at, completed_at, charged_micros, change from task
     where account_number = given.account and change >= 0 order by change desc limit $2) as task
   order by account, change desc`,
);

/** The body of `TaskStore.recentEndings`. Reads at most `MOST_ROWS` tasks. A copy of the database that lags a little may answer it. */
export async function recentEndings(session: Session, since: number): Promise<RecentEndings | undefined> {
  const accounts = (await ACCOUNTS.all(session)).map(({ number }) => number);
  if (accounts.length > MOST_ACCOUNTS) return undefined;
  const limit = Math.floor(MOST_ROWS / Math.max(1, accounts.length));
  const rows = Map.groupBy(await LATEST.all(session, accounts, limit), ({ account }) => account);
  return endingsIn(
    since,
    accounts.map((account) => endingsOf(rows.get(account) ?? [], since, limit)),
  );
}
