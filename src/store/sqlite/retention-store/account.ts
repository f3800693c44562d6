import type { Database } from "bun:sqlite";
import type { Act } from "../../../domain/access/actor.ts";
import type { TrailNote } from "../../../domain/access/trail.ts";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { AccountRemains } from "../../../domain/ports/retention-store.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { ENDED, LIVE, REMOVED } from "../task-store/task-table.ts";
import type { Trail } from "../trail.ts";

/** Returns the body of `RetentionStore.tasksOf`. */
export function prepareTasksOf(db: Database) {
  const ended = db.prepare<{ id: TaskId }, [account: string, limit: number]>(
    `select id from task indexed by task_ended where ${ENDED} and account_number = ${accountNumber("?")} limit ?`,
  );
  const live = db.prepare<{ id: TaskId }, [account: string, limit: number]>(
    `select id from task indexed by task_live where ${LIVE} and account_number = ${accountNumber("?")} limit ?`,
  );
  return (account: AccountId, limit: number) => ({
    ended: ended.all(account, limit).map(({ id }) => id),
    live: live.all(account, limit).map(({ id }) => id),
  });
}

/** Returns the body of `RetentionStore.anonymise`. */
export function prepareAnonymise(db: Database, trail: Trail): (account: AccountId, act: Act) => void {
  const keys = db.prepare<never, [now: number, account: string]>(
    `update api_key set name = id, hash = 'purged ' || id, display = '', policy = '{}', previous_hash = null,
       previous_display = null, previous_expires_at = null, callback_secret = null, revoked_at = coalesce(revoked_at, ?)
     where account_id = ?`,
  );
  const account = db.prepare<never, [account: string]>(
    "update account set name = id, status = 'suspended' where id = ? and (name <> id or status <> 'suspended')",
  );
  return (id, act) => {
    keys.run(act.at, id);
    const isNew = account.run(id).changes > 0;
    if (isNew) trail(act, purged(id));
  };
}

/** What the trail says of a purge. The account's name is what goes, so the entry has none. */
export function purged(id: AccountId): TrailNote {
  return { action: "account.purge", object: { kind: "account", id }, after: { kept: ["money"] } };
}

/** Returns the body of `RetentionStore.remainsOf`. */
export function prepareRemainsOf(db: Database): (account: AccountId) => AccountRemains {
  const count = db.prepare<AccountRemains, [account: string]>(
    `select (select count(*) from task where account_number = ${accountNumber("?1")} and status <> '${REMOVED}') as tasks,
       (select count(*) from asset where account_number = ${accountNumber("?1")})
         + (select count(*) from upload where account_number = ${accountNumber("?1")}) as files,
       (select count(*) from callback where account_id = ?1) as callbacks,
       (select count(*) from api_key where account_id = ?1 and (name <> id or policy <> '{}' or display <> ''
          or callback_secret is not null or previous_hash is not null or revoked_at is null)) as keys`,
  );
  return (account) => count.get(account) ?? { tasks: 0, files: 0, callbacks: 0, keys: 0 };
}
