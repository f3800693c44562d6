import type { TaskId } from "../domain/ids.ts";
import { awaitsResults, type Lease } from "../domain/task/task.ts";
import { snoozed } from "../domain/task/transition.ts";
import type { Fetches } from "./fetches.ts";
import { createRetrievals } from "./retrievals.ts";
import type { StepDeps } from "./step.ts";
import type { Beginning } from "./steps/begin.ts";
import { workOff } from "./work-off.ts";

interface Work {
  readonly end: Promise<void>;
  readonly controller: AbortController;
}

/** The tasks that this process works on. */
export function createUnderWay(deps: StepDeps, fetches: Fetches, leaseMs: number) {
  const working = new Map<TaskId, Work>();
  const retrievals = createRetrievals(deps.clock);

  return {
    /**
     * Works on a task until it ends or its lease is released, then calls `onEnd`.
     *
     * @param beginning how its claim has begun it, if it has
     */
    begin(lease: Lease, beginning: Beginning | undefined, onEnd: (isOver: boolean) => void): void {
      const { id } = lease.task;
      const controller = new AbortController();
      const isFetch = needsFetching(lease);
      const endFetch = isFetch ? fetches.begin(lease.task) : undefined;
      const isAgain = awaitsResults(lease.task);
      const endRetrieval = isAgain ? retrievals.begin(lease) : undefined;
      const start = () => {
        if (isFetch && endFetch === undefined) return standBack(deps, lease, fetches.againAt(lease.task));
        if (isAgain && endRetrieval === undefined) return standBack(deps, lease, retrievals.againAt(lease));
        return workOff(deps, lease, { controller, leaseMs, beginning, onCommit: endFetch });
      };
      const end = start().then((isOver) => {
        // The task may have been claimed again since its lease was released.
        if (working.get(id)?.end === end) working.delete(id);
        endFetch?.();
        endRetrieval?.(isOver);
        onEnd(isOver);
      });
      working.set(id, { end, controller });
    },
    ids: (): ReadonlySet<TaskId> => new Set(working.keys()),
    /** Steps under way, without those that fetch inputs, or results once more: slow addresses take no slots from polls. */
    steps: () => working.size - fetches.total() - retrievals.total(),
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
async function standBack(deps: StepDeps, lease: Lease, dueAt: number): Promise<boolean> {
  const again = { dueAt, failures: lease.task.failures };
  await deps.tasks.apply(lease, snoozed(lease.task, deps.clock.now(), again)).catch((error: unknown) => {
    deps.log.error({ err: error as Error, task: lease.task.id }, "lease could not be given back");
  });
  return false;
}
