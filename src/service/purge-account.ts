import type { Actor } from "../domain/access/actor.ts";
import type { AccountId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { AccountRemains, RetentionStore } from "../domain/ports/retention-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";

/** Tasks removed between two reports. */
const SLICE = 100;

export interface PurgeDeps {
  readonly tasks: Pick<TaskStore, "requestCancel">;
  readonly retention: Pick<RetentionStore, "tasksOf" | "remove" | "anonymise" | "remainsOf">;
  readonly uploads: Pick<UploadStore, "removeOf">;
  /** Removes the files that nothing needs any more. @returns how many were removed */
  readonly removeContents: (contents: readonly string[]) => Promise<number>;
  readonly now: () => number;
  /** Who purges. */
  readonly actor: Actor;
  /** Whether to stop for now, because the caller will call again; never unless given. */
  readonly isOver?: () => boolean;
}

export type Purge =
  /** Live tasks: nothing of the account can be removed before they end. Their cancel was requested. */
  | { readonly kind: "live"; readonly tasks: number }
  /** It was stopped, and continues when it is called again. */
  | { readonly kind: "more"; readonly tasks: number; readonly files: number }
  | {
      readonly kind: "purged";
      /** How many went. */
      readonly tasks: number;
      readonly files: number;
      /** Files that could not be removed yet, because another process may be using them. */
      readonly filesLeft: number;
      readonly remains: AccountRemains;
    };

/**
 * Removes everything of an account that is not money, and counts what is left. The account's keys must be refused before. The
 * process can be killed and the purge called again.
 *
 * @param onTask called with how many tasks were removed so far
 */
export async function purgeAccount(
  { tasks, retention, uploads, removeContents, now, actor, isOver = () => false }: PurgeDeps,
  account: AccountId,
  onTask: (count: number) => void = () => {},
): Promise<Purge> {
  for (;;) {
    const { live } = await retention.tasksOf(account, SLICE);
    const outcomes: string[] = [];
    for (const id of live) outcomes.push(await tasks.requestCancel(id, account, now()));
    const waiting = outcomes.filter((outcome) => outcome === "requested").length;
    if (waiting > 0) return { kind: "live", tasks: waiting };
    if (live.length === 0) break;
    if (isOver()) return { kind: "more", tasks: 0, files: 0 };
  }
  let [count, files, filesLeft] = [0, 0, 0];
  async function removeFiles(contents: readonly string[]): Promise<void> {
    const gone = await removeContents(contents);
    files += gone;
    filesLeft += contents.length - gone;
  }
  for (;;) {
    const { ended } = await retention.tasksOf(account, SLICE);
    if (ended.length === 0) break;
    for (const id of ended) {
      const removal = await retention.remove(id, now(), account);
      await removeFiles(removal.kind === "removed" ? removal.contents : []);
      count += 1;
    }
    onTask(count);
    if (isOver()) return { kind: "more", tasks: count, files };
  }
  for (let left = SLICE; left === SLICE; ) {
    const removed = await uploads.removeOf(account, SLICE);
    await removeFiles(removed.contents);
    left = removed.files;
    if (isOver()) return { kind: "more", tasks: count, files };
  }
  await retention.anonymise(account, { actor, at: now() });
  return { kind: "purged", tasks: count, files, filesLeft, remains: await retention.remainsOf(account) };
}

/** The result of a purge, as operators see it. */
export function purgeForm(account: AccountId, purge: Purge): JsonObject {
  const done = purge.kind === "purged" ? purge : undefined;
  return {
    account_id: account,
    status: purge.kind,
    tasks: purge.tasks,
    files: purge.kind === "live" ? 0 : purge.files,
    files_left: done?.filesLeft ?? 0,
    remains: done === undefined ? null : { ...done.remains },
    verified: done !== undefined && Object.values(done.remains).every((count) => count === 0),
  };
}
