import type { Operator } from "../domain/access/actor.ts";
import { actorOf } from "../domain/access/actor.ts";
import { mustBe } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";
import { type Collected, collectContents } from "./collect-contents.ts";
import { createJob } from "./jobs.ts";
import type { ManageAs } from "./manage-account.ts";
import { type Purge, purgeAccount } from "./purge-account.ts";
import { type RemoveTaskDeps, removeContents } from "./remove-task.ts";
import { type Verified, verifyContents } from "./verify-contents.ts";

/** How long a request for a purge works before it is answered. The caller then asks again. */
const PURGE_MS = 10_000;
/** A check of every file pauses three times as long as it worked, because requests come first. */
const REST = 3;
/** Most files that an answer lists. */
const NAMED = 1_000;

export interface UpkeepDeps extends Omit<RemoveTaskDeps, "retention"> {
  readonly clock: Clock;
  readonly contents: StoredContents;
  readonly retention: RetentionStore;
  readonly tasks: Pick<TaskStore, "requestCancel">;
  readonly uploads: Pick<UploadStore, "ofContent" | "removeOf">;
  readonly manageAs: ManageAs;
  /** Makes a backup now. @throws Error that says why the backup failed */
  readonly backUp: () => Promise<MadeByHand>;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

/** A backup that an operator requested. */
export interface MadeByHand {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  readonly copiedBytes: number;
  /** Files that the database names and that are missing. */
  readonly missing: number;
}

/** The result of a collection, with the first files that were removed, or would be. */
export interface CollectedFiles extends Collected {
  readonly isTrial: boolean;
  readonly contents: readonly { readonly sha256: string; readonly sizeBytes: number }[];
}

export type Upkeep = ReturnType<typeof createUpkeep>;

/** The jobs on stored files and accounts that operators start on a running server. */
export function createUpkeep(deps: UpkeepDeps) {
  const { clock, contents, retention, stopping } = deps;
  return {
    /** Compares every stored file with its hash. */
    verify: createJob(clock, (_: undefined, onFile): Promise<Verified> => {
      return verifyContents({ contents: { rehash: atRest(deps) }, retention, uploads: deps.uploads }, onFile);
    }),
    /** Removes files that no task has. */
    collect: createJob(clock, async ({ isTrial }: { isTrial: boolean }): Promise<CollectedFiles> => {
      const found: { sha256: string; sizeBytes: number }[] = [];
      const onFound = (sha256: string, sizeBytes: number) =>
        void (found.length < NAMED && found.push({ sha256, sizeBytes }));
      const pause = async () => {
        await new Promise<void>((resolve) => void clock.after(0, resolve));
        return !stopping.aborted;
      };
      const collected = await collectContents(
        { contents, retention, now: clock.now, pause },
        { isTrial, onFound },
      );
      return { ...collected, isTrial, contents: found };
    }),
    /** Makes a backup of the data folder at the place of the settings. */
    backup: createJob(clock, (_: undefined) => deps.backUp()),
    /**
     * Removes everything of an account except its money, for some seconds. Call it again while the answer says so.
     *
     * @param confirm the account's id, repeated
     * @throws AppError `not_found`; `invalid_request` if `confirm` is another id
     */
    async purge(
      operator: Operator,
      idOrName: string,
      confirm: string,
    ): Promise<{ id: AccountId; purge: Purge }> {
      const manage = deps.manageAs(operator);
      const { id } = await manage.readAccount(idOrName);
      if (confirm !== id) throw mustBe("confirm", { rule: `be the account's id, ${id}` }, confirm);
      await manage.suspendAccount(id);
      const until = clock.elapsed() + PURGE_MS;
      const purging = {
        ...{ tasks: deps.tasks, uploads: deps.uploads, retention, now: clock.now, actor: actorOf(operator) },
        removeContents: (all: readonly string[]) => removeContents(deps, all),
        isOver: () => clock.elapsed() >= until || stopping.aborted,
      };
      return { id, purge: await purgeAccount(purging, id) };
    },
  };
}

/** Reads files one by one, with pauses. @throws Error when the service stops */
function atRest({ clock, contents, stopping }: UpkeepDeps): StoredContents["rehash"] {
  return async (sha256) => {
    if (stopping.aborted) throw new Error("the service stops");
    const began = clock.elapsed();
    const hash = await contents.rehash(sha256);
    const restMs = REST * (clock.elapsed() - began);
    await new Promise<void>((resolve) => void clock.after(restMs, resolve));
    return hash;
  };
}
