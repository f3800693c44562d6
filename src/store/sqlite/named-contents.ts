import type { Database } from "bun:sqlite";
import { storedHash } from "./task-store/asset-table.ts";

/** Returns a function that says whether a task or an uploaded file has a content. */
export function prepareIsNamed(db: Database): (sha256: string) => boolean {
  const ofAsset = db.prepare<unknown, [sha256: string]>(
    `select 1 from asset indexed by asset_of_content where sha256 = ${storedHash("?")} limit 1`,
  );
  const ofUpload = db.prepare<unknown, [sha256: string]>(
    `select 1 from upload indexed by upload_of_content where sha256 = ${storedHash("?")} limit 1`,
  );
  return (sha256) => ofAsset.get(sha256) !== null || ofUpload.get(sha256) !== null;
}
