import type { AccountId, AssetId, KeyId, TaskId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { TaskStory, ToldCallback } from "../../../domain/task/story.ts";
import {
  callback,
  callbackAttempt,
  toCallback,
  toCallbackAttempt,
} from "../../sqlite/callback-store/callback-table.ts";
import { optional, type RawRow } from "../../sqlite/raw-row.ts";
import { ASSET_COLUMNS, type AssetRow, toAsset } from "../../sqlite/task-store/asset-table.ts";
import { refundedOf } from "../../sqlite/task-store/story.ts";
import { REMOVED, TASK_COLUMNS, type TaskRow, toTask } from "../../sqlite/task-store/task-table.ts";
import { rowOf } from "../row.ts";
import { type Session, statement } from "../session.ts";
import { attempts } from "./reads.ts";

interface Names {
  readonly account_name: string;
  readonly key_name: string;
}

const TASK = statement<TaskRow, [id: TaskId]>(
  `select ${TASK_COLUMNS} from task where id = $1 and status <> '${REMOVED}'`,
);
const NAMES = statement<Names, [account: AccountId, key: KeyId]>(
  `select account.name as account_name, coalesce(api_key.name, $2) as key_name
   from account left join api_key on api_key.id = $2 where account.id = $1`,
);
const INPUTS = statement<AssetRow, [ids: readonly AssetId[]]>(
  `select ${ASSET_COLUMNS} from asset where id = any ($1::text[])`,
);
const CALLBACK = statement<RawRow<typeof callback>, [task: TaskId]>(
  "select * from callback where task_id = $1 order by created_at desc, id desc limit 1",
);
const LAST_SEND = statement<RawRow<typeof callbackAttempt>, [callback: string]>(
  "select * from callback_attempt where callback_id = $1 order by sequence desc limit 1",
);
const REFUNDED = statement<{ refunded: number }, [account: AccountId, task: TaskId]>(refundedOf("$1", "$2"));
const [callbackIn, sendIn] = [rowOf(callback), rowOf(callbackAttempt)];

/** The body of `TaskStore.story`, for a session that sees one moment. */
export async function story(session: Session, id: TaskId): Promise<TaskStory | undefined> {
  const row = await TASK.get(session, id);
  if (row === undefined) return undefined;
  const task = toTask(row);
  const inputs = new Set(
    task.request.inputs.flatMap(({ source }) => (source.kind === "asset" ? [source.assetId] : [])),
  );
  // The names come last: they are always there, and prove the answers before them, which may be empty.
  const [tries, assets, told, refund, named] = await Promise.all([
    attempts(session, id),
    inputs.size === 0 ? [] : INPUTS.all(session, [...inputs]),
    callbackOf(session, id),
    task.charged === undefined ? undefined : REFUNDED.get(session, task.accountId, id),
    NAMES.get(session, task.accountId, task.keyId),
  ]);
  if (named === undefined) return undefined;
  const assetsById = new Map(assets.map((asset) => [asset.id, toAsset(asset)]));
  return {
    task,
    account: { id: task.accountId, name: named.account_name },
    key: { id: task.keyId, name: named.key_name },
    attempts: tries,
    inputs: [...inputs].flatMap((input) => assetsById.get(input) ?? []),
    charge: optional(row.whole_charge),
    refunded: refund && toMicros(refund.refunded),
    callback: told,
  };
}

async function callbackOf(session: Session, id: TaskId): Promise<ToldCallback | undefined> {
  const row = await CALLBACK.get(session, id);
  if (row === undefined) return undefined;
  const send = await LAST_SEND.get(session, row.id);
  return { callback: toCallback(callbackIn(row)), lastSend: send && toCallbackAttempt(sendIn(send)) };
}
