import type { Act } from "../../../domain/access/actor.ts";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { AccountRemains } from "../../../domain/ports/retention-store.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { purged } from "../../sqlite/retention-store/account.ts";
import { ENDED, LIVE, REMOVED } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";

const ENDED_TASKS = statement<{ id: TaskId }, [account: string, limit: number]>(
  `select id from task where ${ENDED} and account_number = ${accountNumber("$1")} limit $2`,
);
const LIVE_TASKS = statement<{ id: TaskId }, [account: string, limit: number]>(
  `select id from task where ${LIVE} and account_number = ${accountNumber("$1")} limit $2`,
);
const STRIP_KEYS = statement<never, [now: number, account: string]>(
  `update api_key set name = id, hash = 'purged ' || id, display = '', policy = '{}', previous_hash = null,
     previous_display = null, previous_expires_at = null, callback_secret = null, revoked_at = coalesce(revoked_at, $1)
   where account_id = $2`,
);
const STRIP_ACCOUNT = statement<never, [account: string]>(
  "update account set name = id, status = 'suspended' where id = $1 and (name <> id or status <> 'suspended')",
);
const REMAINS = statement<AccountRemains, [account: string]>(
  `select
     (select count(*)::bigint from task where account_number = ${accountNumber("$1")} and status <> '${REMOVED}') as tasks,
     (select count(*)::bigint from asset where account_number = ${accountNumber("$1")})
       + (select count(*)::bigint from upload where account_number = ${accountNumber("$1")}) as files,
     (select count(*)::bigint from callback where account_id = $1) as callbacks,
     (select count(*)::bigint from api_key where account_id = $1 and (name <> id or policy <> '{}' or display <> ''
        or callback_secret is not null or previous_hash is not null or revoked_at is null)) as keys`,
);

/** The body of `RetentionStore.tasksOf`. */
export async function tasksOf(session: Session, account: AccountId, limit: number) {
  const [ended, live] = [
    await ENDED_TASKS.all(session, account, limit),
    await LIVE_TASKS.all(session, account, limit),
  ];
  return { ended: ended.map(({ id }) => id), live: live.map(({ id }) => id) };
}

/** The body of `RetentionStore.anonymise`. It holds the row of the account. */
export async function anonymise(session: Session, id: AccountId, act: Act): Promise<void> {
  await STRIP_KEYS.run(session, act.at, id);
  if ((await STRIP_ACCOUNT.run(session, id)) > 0) await writeTrail(session, act, purged(id));
}

/** The body of `RetentionStore.remainsOf`. */
export async function remainsOf(session: Session, account: AccountId): Promise<AccountRemains> {
  return (await REMAINS.get(session, account)) ?? { tasks: 0, files: 0, callbacks: 0, keys: 0 };
}
