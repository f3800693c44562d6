import type { AccountId, TaskId } from "../../domain/ids.ts";
import type { Removal, RetentionStore } from "../../domain/ports/retention-store.ts";
import { named } from "../sqlite/task-store/task-table.ts";
import type { Connection } from "./connection.ts";
import type { Labels } from "./labels.ts";
import { tryLock } from "./locks.ts";
import { anonymise, remainsOf, tasksOf } from "./retention-store/account.ts";
import { assetPage, contentsAfter, markDamaged, ownersOf } from "./retention-store/contents.ts";
import { expireOf } from "./retention-store/expire.ts";
import { expired, filesDue } from "./retention-store/expiry.ts";
import { neededContents, removeTask } from "./retention-store/remove.ts";
import { removedTasks, sumUp } from "./retention-store/sum-up.ts";
import { type Session, statement } from "./session.ts";

interface Owned {
  readonly id: TaskId;
  readonly account_id: AccountId;
}

const OWNERS = statement<Owned, [ids: readonly string[]]>(
  `select id, ${named("account_id")} from task where id = any($1) order by number`,
);

/**
 * Removes data from PostgreSQL that is no longer kept. Retention writes account by account, each in a transaction that holds
 * the account's row. Only one process writes at a time; any other leaves its findings until its next look.
 */
export function createRetentionStore(connection: Connection, labels: Labels): RetentionStore {
  const { read, writeFor } = connection;
  /** Runs `write` for the tasks of each account. @returns its results, without the accounts that were left out */
  async function inTurn<T>(
    ids: readonly TaskId[],
    write: (session: Session, ofAccount: readonly TaskId[]) => Promise<T>,
  ): Promise<T[]> {
    const owned = await read((session) => OWNERS.all(session, ids));
    const results: T[] = [];
    for (const [account, tasks] of Map.groupBy(owned, ({ account_id }) => account_id)) {
      const ofAccount = tasks.map(({ id }) => id);
      const done = await writeFor(account, async (session) =>
        (await tryLock(session, "retention")) ? { result: await write(session, ofAccount) } : undefined,
      );
      if (done !== undefined) results.push(done.result);
    }
    return results;
  }

  async function remove(id: TaskId, at: number, owner?: AccountId): Promise<Removal> {
    const [owned] = await read((session) => OWNERS.all(session, [id]));
    if (owned === undefined) return { kind: "not_found" };
    return writeFor(owned.account_id, (session) => removeTask(session, id, at, owner));
  }

  async function markAll(sha256: string, isDamaged: boolean): Promise<TaskId[]> {
    const owners = await read((session) => ownersOf(session, sha256));
    for (const { task_id: id, account_id: account } of owners)
      await writeFor(account, (session) => markDamaged(session, id, sha256, isDamaged));
    return owners.map(({ task_id: id }) => id);
  }

  return {
    tasksOf: (account, limit) => read((session) => tasksOf(session, account, limit)),
    anonymise: (account, act) => writeFor(account, (session) => anonymise(session, account, act)),
    remainsOf: (account) => read((session) => remainsOf(session, account)),
    expired: (query) => read((session) => expired(session, query)),
    filesDue: (now, limit) => read((session) => filesDue(session, now, limit)),
    expire: async (kinds, ids, now) =>
      (await inTurn(ids, (session, tasks) => expireOf(session, kinds, tasks, now))).flat(),
    remove,
    removed: (query) => read((session) => removedTasks(session, query)),
    async sumUp(ids) {
      await inTurn(ids, async (session, tasks) => {
        for (const id of tasks) await sumUp(session, labels, id);
      });
    },
    contentsAfter: (sha256, limit) => read((session) => contentsAfter(session, sha256, limit)),
    markDamaged: markAll,
    assets: (query) => read((session) => assetPage(session, query)),
    neededContents: (contents) => read((session) => neededContents(session, contents)),
  };
}
