import type { AccountId, AssetId, TaskId } from "../../../domain/ids.ts";
import type { AssetPage, RetentionStore } from "../../../domain/ports/retention-store.ts";
import { type Completed, issuesWith } from "../../sqlite/retention-store/contents.ts";
import {
  ASSET_COLUMNS,
  type AssetRow,
  SHA256,
  storedHash,
  toAsset,
} from "../../sqlite/task-store/asset-table.ts";
import { named, taskNumber } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

interface NamedContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

const PAGE = statement<AssetRow & { number: number }, [before: number, limit: number]>(
  `select number, ${ASSET_COLUMNS} from asset where number < $1 order by number desc limit $2`,
);
const nextIn = (table: "asset" | "upload") =>
  `(select distinct on (sha256) sha256, size_bytes from ${table} where sha256 > ${storedHash("$1")} order by sha256 limit $2)`;
const CONTENTS_AFTER = statement<NamedContent, [after: string, limit: number]>(
  `select distinct on (named.sha256) lower(hex(named.sha256)) as sha256, size_bytes as "sizeBytes"
   from (${nextIn("asset")} union all ${nextIn("upload")}) as named order by named.sha256 limit $2`,
);
const OWNERS = statement<{ task_id: TaskId; account_id: AccountId }, [sha256: string]>(
  `select id as task_id, ${named("account_id")} from task
   where number in (select task_number from asset where sha256 = ${storedHash("$1")}) order by number`,
);
const COMPLETED = statement<Completed, [id: string]>(
  "select results, result_issues from task where id = $1 and status = 'completed'",
);
const OUTPUTS = statement<{ id: AssetId; sha256: string }, [task: string]>(
  `select id, ${SHA256} from asset where task_number = ${taskNumber("$1")} and role = 'output'`,
);
const NOTE = statement<never, [issues: string | null, id: string]>(
  "update task set result_issues = $1 where id = $2",
);

/** The body of `RetentionStore.assets`. */
export async function assetPage(
  session: Session,
  { limit, after }: Parameters<RetentionStore["assets"]>[0],
): Promise<AssetPage> {
  // One more than requested shows whether there is another page.
  const rows = await PAGE.all(session, after ?? Number.MAX_SAFE_INTEGER, limit + 1);
  const shown = rows.slice(0, limit);
  return { assets: shown.map(toAsset), next: rows.length > limit ? shown.at(-1)?.number : undefined };
}

/** The body of `RetentionStore.contentsAfter`. */
export const contentsAfter = (session: Session, sha256: string, limit: number): Promise<NamedContent[]> =>
  CONTENTS_AFTER.all(session, sha256, limit);

/** The tasks that have a content, with their accounts. */
export const ownersOf = (session: Session, sha256: string) => OWNERS.all(session, sha256);

/** Records in a task that a content is damaged, or intact again. It holds the row of the task's account. */
export async function markDamaged(
  session: Session,
  id: TaskId,
  sha256: string,
  isDamaged: boolean,
): Promise<void> {
  const row = await COMPLETED.get(session, id);
  if (row === undefined) return;
  const issues = issuesWith(row, await OUTPUTS.all(session, id), sha256, isDamaged);
  if (issues !== row.result_issues) await NOTE.run(session, issues, id);
}
