import type { Database } from "bun:sqlite";
import type { AssetId, TaskId } from "../../../domain/ids.ts";
import type { RetentionStore } from "../../../domain/ports/retention-store.ts";
import { damagedResults, type ResultIssue, withDamage } from "../../../domain/task/result-issue.ts";
import type { TaskResult } from "../../../domain/task/task.ts";
import { json, optional } from "../raw-row.ts";
import { ASSET_COLUMNS, type AssetRow, SHA256, storedHash, toAsset } from "../task-store/asset-table.ts";
import { TASK_ID, taskNumber } from "../task-store/task-table.ts";

interface NamedContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** What a completed task says of its results. */
export interface Completed {
  readonly results: string | null;
  readonly result_issues: string | null;
}

/** Returns the body of `RetentionStore.assets`. */
export function prepareAssetPage(db: Database) {
  const page = db.prepare<AssetRow & { number: number }, [before: number, limit: number]>(
    `select number, ${ASSET_COLUMNS} from asset where number < ? order by number desc limit ?`,
  );
  return ({ limit, after }: Parameters<RetentionStore["assets"]>[0]) => {
    // One more than asked for shows whether there is another page.
    const rows = page.all(after ?? Number.MAX_SAFE_INTEGER, limit + 1);
    const shown = rows.slice(0, limit);
    return { assets: shown.map(toAsset), next: rows.length > limit ? shown.at(-1)?.number : undefined };
  };
}

/** Returns the body of `RetentionStore.contentsAfter`. */
export function prepareContentsAfter(db: Database) {
  const nexts = (["asset", "upload"] as const).map((table) =>
    db.prepare<NamedContent, [after: string]>(
      `select ${SHA256}, size_bytes as sizeBytes from ${table} indexed by ${table}_of_content
       where ${table}.sha256 > ${storedHash("?")} order by ${table}.sha256 limit 1`,
    ),
  );
  const next = (after: string) =>
    nexts
      .flatMap((statement) => statement.get(after) ?? [])
      .reduce<NamedContent | undefined>(
        (first, each) => (first === undefined || each.sha256 < first.sha256 ? each : first),
        undefined,
      );
  return (after: string, limit: number) => {
    const found: NamedContent[] = [];
    for (let row = next(after); row !== undefined && found.length < limit; row = next(row.sha256))
      found.push(row);
    return found;
  };
}

/** What a task lacks, as it is stored, once a content is damaged or whole again. @param outputs the assets of its results */
export function issuesWith(
  row: Completed,
  outputs: readonly { readonly id: AssetId; readonly sha256: string }[],
  sha256: string,
  isDamaged: boolean,
): string | null {
  const results = optional<readonly TaskResult[]>(row.results) ?? [];
  const before = optional<readonly ResultIssue[]>(row.result_issues) ?? [];
  const contents = new Map(outputs.map((asset) => [asset.id, asset.sha256]));
  const isNoted = new Set(damagedResults(before, results.length));
  const damaged = new Set(
    results.flatMap(({ assetId }, i) =>
      (contents.get(assetId) === sha256 ? isDamaged : isNoted.has(i)) ? [i] : [],
    ),
  );
  const after = withDamage(before, results.length, damaged);
  if (JSON.stringify(after) === JSON.stringify(before)) return row.result_issues;
  return json(after.length === 0 ? undefined : after);
}

/** Returns the body of `RetentionStore.markDamaged`. */
export function prepareMarkDamaged(
  db: Database,
  tell: (id: TaskId, ofAssets: readonly AssetId[]) => void,
): (sha256: string, isDamaged: boolean) => TaskId[] {
  const owners = db.prepare<{ task_id: TaskId; id: AssetId }, [sha256: string]>(
    `select ${TASK_ID} as task_id, id from asset indexed by asset_of_content where sha256 = ${storedHash("?")}`,
  );
  const select = db.prepare<Completed, [id: string]>(
    "select results, result_issues from task where id = ? and status = 'completed'",
  );
  const outputs = db.prepare<{ id: AssetId; sha256: string }, [task: string]>(
    `select id, ${SHA256} from asset where task_number = ${taskNumber("?")} and role = 'output'`,
  );
  const note = db.prepare<never, [issues: string | null, id: string]>(
    "update task set result_issues = ? where id = ?",
  );

  function mark(id: TaskId, sha256: string, isDamaged: boolean): void {
    const row = select.get(id);
    const issues = row && issuesWith(row, outputs.all(id), sha256, isDamaged);
    if (row === null || issues === row.result_issues) return;
    note.run(issues, id);
    tell(id, []);
  }

  return (sha256, isDamaged) => {
    const ids = [...new Set(owners.all(sha256).map((row) => row.task_id))];
    for (const id of ids) mark(id, sha256, isDamaged);
    return ids;
  };
}
