import type { Database } from "bun:sqlite";
import type { Asset } from "../../../domain/media/asset.ts";
import { storedHash } from "./asset-table.ts";

/** Returns a function that stores the assets of a task that is already stored, by its number and that of its account. */
export function prepareAssets(
  db: Database,
): (of: { readonly account: number; readonly task: number }, assets: readonly Asset[]) => void {
  const insert = db.prepare(
    `insert into asset (id, account_number, task_number, role, position, sha256, size_bytes, type, width, height, duration_ms,
       created_at)
     values (?, ?, ?, ?, ?, ${storedHash("?")}, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ account, task }, assets) => {
    for (const asset of assets) {
      insert.run(
        asset.id,
        account,
        task,
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
