import type { Asset } from "../../../domain/media/asset.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { storedHash } from "../../sqlite/task-store/asset-table.ts";
import { taskNumber } from "../../sqlite/task-store/task-table.ts";
import { asRows, insertion } from "../given-rows.ts";
import type { Session } from "../session.ts";

const INSERT = insertion<Asset>(
  "asset",
  {
    ...{ id: "text", accountId: "text", taskId: "text", role: "text", index: "bigint", sha256: "text" },
    ...{ sizeBytes: "bigint", type: "text", width: "bigint", height: "bigint", durationMs: "bigint" },
    createdAt: "bigint",
  },
  {
    id: "id",
    account_number: accountNumber('given."accountId"'),
    task_number: taskNumber('given."taskId"'),
    role: "role",
    position: '"index"',
    sha256: storedHash("sha256"),
    size_bytes: '"sizeBytes"',
    type: "type",
    width: "width",
    height: "height",
    duration_ms: '"durationMs"',
    created_at: '"createdAt"',
  },
);

/** Stores the assets of tasks that are already stored. */
export async function insertAssets(session: Session, assets: readonly Asset[]): Promise<void> {
  if (assets.length > 0) await INSERT.run(session, asRows(assets));
}
