import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

export interface RemoveTaskDeps {
  readonly retention: Pick<RetentionStore, "remove" | "neededContents">;
  readonly assets: Pick<AssetStore, "removeUnheld">;
  readonly log: Log;
}

/**
 * Removes an ended task of the caller's account, with everything but its money. No read finds it afterwards, and files that no
 * other task has are removed from the disk. Removing it again succeeds and changes nothing.
 * @returns its id
 * @throws AppError `task_not_found`; `task_not_deletable` if it has not ended
 */
export async function removeTask(
  deps: RemoveTaskDeps & { readonly clock: Pick<Clock, "now"> },
  { accountId }: Pick<Principal, "accountId">,
  id: string,
): Promise<TaskId> {
  if (!isId("task", id)) throw new AppError("task_not_found", { kind: "task_unknown" });
  const removal = await deps.retention.remove(id, deps.clock.now(), accountId);
  if (removal.kind === "not_found") throw new AppError("task_not_found", { kind: "task_unknown" });
  if (removal.kind === "live") {
    const facts = { kind: "task_undeletable", status: removal.status } as const;
    throw new AppError("task_not_deletable", facts, { shouldRetry: false });
  }
  await removeContents(deps, removal.contents);
  return id;
}

/**
 * Removes contents from the disk, except those that something needs or holds again meanwhile. A content that cannot be removed
 * is logged and left to the collector.
 * @returns how many were removed
 */
export async function removeContents(deps: RemoveTaskDeps, contents: readonly string[]): Promise<number> {
  let removed = 0;
  for (const sha256 of contents) {
    // Checked for each content, because the need may change while another one is removed.
    const [needed] = await deps.retention.neededContents([sha256]);
    if (needed !== undefined) continue;
    try {
      if (await deps.assets.removeUnheld(sha256)) removed += 1;
    } catch (error) {
      deps.log.warn({ err: error as Error, sha256 }, "a file that nobody needs could not be removed");
    }
  }
  return removed;
}
