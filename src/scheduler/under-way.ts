import type { AccountId, TaskId } from "../domain/ids.ts";
import type { Lease } from "../domain/task/task.ts";
import { snoozed } from "../domain/task/transition.ts";
import type { StepDeps } from "./step.ts";
import type { Beginning } from "./steps/begin.ts";
import { workOff } from "./work-off.ts";

interface Work {
  readonly end: Promise<void>;
  readonly controller: AbortController;
}

/** Most tasks of one account that fetch inputs at once. */
const FETCHES_PER_ACCOUNT = 8;
/** How soon a task is retried when its account already fetches enough. */
const STAND_BACK_MS = 1_000;

/** The tasks that this process works on. */
export function createUnderWay(deps: StepDeps, leaseMs: number) {
  const working = new Map<TaskId, Work>();
  const fetching = new Map<AccountId, number>();

  return {
    /**
     * Works on a task until it ends or its lease is released, then calls `onEnd`.
     *
     * @param beginning how its claim has begun it, if it has
     */
    begin(lease: Lease, beginning: Beginning | undefined, onEnd: (isOver: boolean) => void): void {
      const { id, accountId } = lease.task;
      const isFetch = needsFetching(lease);
      const fetches = fetching.get(accountId) ?? 0;
      const controller = new AbortController();
      const isTooMany = isFetch && fetches >= FETCHES_PER_ACCOUNT;
      if (isFetch) fetching.set(accountId, fetches + 1);
      const work = isTooMany
        ? standBack(deps, lease)
        : workOff(deps, lease, { controller, leaseMs, beginning });
      const end = work.then((isOver) => {
        // The task may have been claimed again since its lease was released.
        if (working.get(id)?.end === end) working.delete(id);
        if (isFetch) release(fetching, accountId);
        onEnd(isOver);
      });
      working.set(id, { end, controller });
    },
    ids: (): ReadonlySet<TaskId> => new Set(working.keys()),
    /** Steps under way, without those that fetch inputs: slow addresses take no slots from polls. */
    steps(): number {
      let fetches = 0;
      for (const count of fetching.values()) fetches += count;
      return working.size - fetches;
    },
    /** Resolves when all work under way at the time of the call has ended. */
    ends: (): Promise<unknown> => Promise.all([...working.values()].map(({ end }) => end)),
    interrupt(reason: Error): void {
      for (const { controller } of working.values()) controller.abort(reason);
    },
  };
}

function needsFetching({ task }: Lease): boolean {
  // No inputs are fetched for a task that will be cancelled.
  return (
    task.stage === "queued" &&
    !task.cancelRequested &&
    task.request.inputs.some((input) => input.source.kind === "url")
  );
}

/** @returns false: the task is due again */
async function standBack(deps: StepDeps, lease: Lease): Promise<boolean> {
  const now = deps.clock.now();
  const again = { dueAt: now + STAND_BACK_MS, failures: lease.task.failures };
  await deps.tasks.apply(lease, snoozed(lease.task, now, again)).catch((error: unknown) => {
    deps.log.error({ err: error as Error, task: lease.task.id }, "lease could not be given back");
  });
  return false;
}

function release(counts: Map<AccountId, number>, account: AccountId): void {
  const left = (counts.get(account) ?? 1) - 1;
  if (left === 0) counts.delete(account);
  else counts.set(account, left);
}
