import { desc, eq, sql } from "drizzle-orm";
import type { AssetId, TaskId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { TaskStory, ToldCallback } from "../../../domain/task/story.ts";
import type { Attempt, Task } from "../../../domain/task/task.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import { accountNumber } from "../account-store/account-table.ts";
import {
  callback,
  callbackAttempt,
  toCallback,
  toCallbackAttempt,
} from "../callback-store/callback-table.ts";
import type { Connection } from "../connection.ts";
import { optional } from "../raw-row.ts";
import { REMOVED, TASK_COLUMNS, type TaskRow, toTask } from "./task-table.ts";

interface Names {
  readonly account_name: string;
  readonly key_name: string;
}

interface Reads {
  readonly attempts: (id: TaskId) => Attempt[];
  readonly assetById: (id: AssetId) => Asset | undefined;
}

/** What was given back of a task's charge, by its account and id. */
export const refundedOf = (account: string, task: string): string =>
  `select balance_delta_micros as refunded from ledger_entry where account_number = ${accountNumber(account)}
     and task_number = (select number from task where task.id = ${task}) and kind = 'refund'`;

/** Returns the body of `TaskStore.story`. */
export function prepareStory(connection: Connection, { attempts, assetById }: Reads) {
  const { db } = connection;
  const select = db.prepare<TaskRow, [id: string]>(
    `select ${TASK_COLUMNS} from task where id = ? and status <> '${REMOVED}'`,
  );
  const names = db.prepare<Names, [account: string, key: string]>(
    `select account.name as account_name, coalesce(api_key.name, ?2) as key_name
     from account left join api_key on api_key.id = ?2 where account.id = ?1`,
  );
  const refunded = db.prepare<{ refunded: number }, [account: string, task: string]>(refundedOf("?", "?"));
  const refundOf = ({ accountId, id, charged }: Task) => {
    const found = charged === undefined ? null : refunded.get(accountId, id);
    return found === null ? undefined : toMicros(found.refunded);
  };
  // Built by the query builder, which would take too long at a start.
  const later = madeAtUse({ callbackOf: () => prepareCallback(connection) });
  return (id: TaskId): TaskStory | undefined => {
    const row = select.get(id);
    const named = row && names.get(row.account_id, row.key_id);
    if (row === null || named === null) return undefined;
    const task = toTask(row);
    const inputs = new Set(
      task.request.inputs.flatMap(({ source }) => (source.kind === "asset" ? [source.assetId] : [])),
    );
    return {
      task,
      account: { id: task.accountId, name: named.account_name },
      key: { id: task.keyId, name: named.key_name },
      attempts: attempts(id),
      inputs: [...inputs].flatMap((input) => assetById(input) ?? []),
      charge: optional(row.whole_charge),
      refunded: refundOf(task),
      callback: later.callbackOf(id),
    };
  };
}

function prepareCallback({ orm }: Connection): (id: TaskId) => ToldCallback | undefined {
  const select = orm
    .select()
    .from(callback)
    .where(eq(callback.taskId, sql.placeholder("id")))
    .orderBy(desc(callback.createdAt), desc(callback.id))
    .limit(1)
    .prepare();
  const lastSend = orm
    .select()
    .from(callbackAttempt)
    .where(eq(callbackAttempt.callbackId, sql.placeholder("id")))
    .orderBy(desc(callbackAttempt.sequence))
    .limit(1)
    .prepare();
  return (id) => {
    const [found] = select.all({ id }).map(toCallback);
    if (found === undefined) return undefined;
    return { callback: found, lastSend: lastSend.all({ id: found.id }).map(toCallbackAttempt)[0] };
  };
}
