import type { Database } from "bun:sqlite";
import type { Asset } from "../../../domain/media/asset.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { storedHash } from "./asset-table.ts";
import { taskNumber } from "./task-table.ts";

/** Returns a function that stores the assets of tasks that are already stored. */
export function prepareAssets(db: Database): (assets: readonly Asset[]) => void {
  const insert = db.prepare(
    `insert into asset (id, account_number, task_number, role, position, sha256, size_bytes, type, width, height, duration_ms,
       created_at)
     values (?, ${accountNumber("?")}, ${taskNumber("?")}, ?, ?, ${storedHash("?")}, ?, ?, ?, ?, ?, ?)`,
  );
  return (assets) => {
    for (const asset of assets) {
      insert.run(
        asset.id,
        asset.accountId,
        asset.taskId,
        asset.role,
        asset.index,
        asset.sha256,
        asset.sizeBytes,
        asset.type,
        asset.width,
        asset.height,
        asset.durationMs ?? null,
        asset.createdAt,
      );
    }
  };
}
