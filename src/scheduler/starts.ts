import type { LaneCapacity, Start } from "../domain/ports/claims.ts";
import type { Admission, AdmitResult } from "../domain/ports/task-store.ts";
import { type Lease, type NewTask, queuedTask } from "../domain/task/task.ts";
import { beginningOf } from "./beginnings.ts";
import type { StepDeps } from "./step.ts";
import type { Beginning } from "./steps/begin.ts";

export interface StartOptions {
  /** Most tasks between submission and end, in all lanes together. */
  readonly concurrency: number;
  /** As they are now. */
  readonly lanes: () => readonly LaneCapacity[];
  readonly leaseMs: number;
  /** Whether the store begins tasks as it admits them. One that does not has them claimed. */
  readonly beginsNew?: boolean;
}

interface StartUse {
  /** Whether a new task may start, as far as the last claim and what is under way tell. */
  readonly isIdle: () => boolean;
  /** Works on a task that was begun. */
  readonly work: (lease: Lease, beginning: Beginning) => void;
  /** Claims, since a task was not begun. */
  readonly claim: () => void;
}

/** Begins new tasks in the transaction that stores them, without a claim. */
export function createStarts(deps: StepDeps, options: StartOptions, use: StartUse) {
  const starting = new Set<Promise<AdmitResult>>();

  async function admit(admission: Admission, lease: Lease, beginning: Beginning): Promise<AdmitResult> {
    let isBegun = false;
    const storing = deps.tasks.admit(admission);
    starting.add(storing);
    try {
      const result = await storing;
      isBegun = result.kind === "admitted" && result.isBegun === true;
      // Before whoever waits for the result goes on, so that the upstream is asked first.
      if (isBegun) use.work(lease, beginning);
      return result;
    } finally {
      starting.delete(storing);
      if (!isBegun) use.claim();
    }
  }

  return {
    /** How many tasks are being stored that may begin. */
    count: () => starting.size,
    /** @returns what becomes of the task; undefined, with nothing stored, where it must be claimed */
    tryAdmit(admission: Admission): Promise<AdmitResult> | undefined {
      if (options.beginsNew !== true || !use.isIdle()) return undefined;
      const { task } = admission;
      // A create that is refused must not use up a start of an account or a model with a rate, nor a try of a route in trouble.
      if (!deps.standing.isClear() || hasRate(deps, task)) return undefined;
      const lease = { token: deps.ids.leaseToken(), task: queuedTask(task), attempt: undefined };
      const beginning = beginningOf(deps, lease);
      if (beginning === undefined) return undefined;
      const start = startOf(options, lease, beginning);
      return admit({ ...admission, start }, lease, beginning);
    },
    /** Resolves when the tasks that are being stored are stored, and worked on if they have begun. */
    ends: (): Promise<unknown> => Promise.allSettled(starting),
  };
}

/** Whether starts are counted now where the task is to begin. */
function hasRate({ pace, catalog }: StepDeps, { lane, model, routeIndex }: NewTask): boolean {
  const route = catalog.find(model)?.routes[routeIndex];
  if (pace.starts(lane) !== undefined || route === undefined) return true;
  return pace.perMinute({ lane, upstreamModel: route.upstreamModel }) !== undefined;
}

function startOf(options: StartOptions, { token }: Lease, { intent }: Beginning): Start {
  const { concurrency: capacity, leaseMs } = options;
  return { token, until: intent.at + leaseMs, intent, lanes: options.lanes(), capacity };
}
