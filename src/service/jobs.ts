import type { Clock } from "../domain/ports/runtime.ts";
import type { JobState } from "../domain/upkeep.ts";

/** Jobs that a caller begins and polls, one at a time. */
export interface Job<Order, Result> {
  /** Begins a job. While it runs, no other job begins. @returns the job's state, and whether this call began it */
  start(order: Order): { readonly state: JobState<Result>; readonly isBegun: boolean };
  state(): JobState<Result>;
}

/** @param run does the work and reports how many files it has checked. The job fails with what it throws */
export function createJob<Order, Result>(
  clock: Pick<Clock, "now">,
  run: (order: Order, onFile: (files: number) => void) => Promise<Result>,
): Job<Order, Result> {
  let state: JobState<Result> = { status: "idle" };

  async function work(order: Order, startedAt: number): Promise<void> {
    const onFile = (files: number) => {
      state = { ...state, files };
    };
    try {
      const result = await run(order, onFile);
      state = { ...state, status: "done", result, endedAt: clock.now() };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      state = { status: "failed", startedAt, endedAt: clock.now(), error: message };
    }
  }

  return {
    state: () => state,
    start(order) {
      if (state.status === "running") return { state, isBegun: false };
      const startedAt = clock.now();
      state = { status: "running", startedAt };
      void work(order, startedAt);
      return { state, isBegun: true };
    },
  };
}
