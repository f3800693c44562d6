import type { AccountId } from "../domain/ids.ts";
import type { AccountRemains, RetentionStore } from "../domain/ports/retention-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

/** Tasks removed between two reports. */
const SLICE = 100;

export interface PurgeDeps {
  readonly tasks: Pick<TaskStore, "requestCancel">;
  readonly retention: Pick<RetentionStore, "tasksOf" | "remove" | "anonymise" | "remainsOf">;
  /** Removes the files that no task has any more. @returns how many are gone */
  readonly removeContents: (contents: readonly string[]) => Promise<number>;
  readonly now: () => number;
}

export type Purge =
  /** Nothing of it can go before these have ended; their cancel was requested. */
  | { readonly kind: "live"; readonly tasks: number }
  | {
      readonly kind: "purged";
      /** How many went. */
      readonly tasks: number;
      readonly files: number;
      /** Files that are to go and could not, because another process may be using them. */
      readonly filesLeft: number;
      readonly remains: AccountRemains;
    };

/**
 * Removes everything of an account that is not money, and counts what is left. Begin with an account whose keys are refused. It can be
 * killed and called again.
 *
 * @param onTask called with how many tasks went so far
 */
export async function purgeAccount(
  { tasks, retention, removeContents, now }: PurgeDeps,
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
  }
  let [count, files, filesLeft] = [0, 0, 0];
  for (;;) {
    const { ended } = await retention.tasksOf(account, SLICE);
    if (ended.length === 0) break;
    for (const id of ended) {
      const removal = await retention.remove(id, account);
      const contents = removal.kind === "removed" ? removal.contents : [];
      const gone = await removeContents(contents);
      files += gone;
      filesLeft += contents.length - gone;
      count += 1;
    }
    onTask(count);
  }
  await retention.anonymise(account, now());
  return { kind: "purged", tasks: count, files, filesLeft, remains: await retention.remainsOf(account) };
}
