import type { AttemptId, TaskId } from "../domain/ids.ts";
import type { Tracing } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Attempt, AttemptTrace } from "../domain/task/task.ts";
import { type Transition, traced } from "../domain/task/transition.ts";

type Sums = { -readonly [Name in keyof AttemptTrace]: AttemptTrace[Name] };
type Counted = "connectMs" | "uploadMs" | "submitMs" | "polls" | "failedPolls" | "fetchMs" | "storeMs";
type Pieces = AsyncIterable<Uint8Array>;

/**
 * Measurements of the attempts under way. They are kept here until they are written with a transition, so that a trace costs no
 * write of its own. Measurements since the last transition are lost with the process.
 */
export class Traces {
  readonly #clock: Pick<Clock, "elapsed">;
  /** The latest attempt of each task. */
  readonly #known = new Map<TaskId, { readonly id: AttemptId; readonly sums: Sums }>();

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /** Measures a submission, and records what its adapter reports about it. */
  async submission<T>(attempt: Attempt, submit: (tracing: Tracing) => Promise<T>): Promise<T> {
    const start = this.#clock.elapsed();
    let apartMs = 0;
    const tracing: Tracing = {
      took: (phase, ms) => {
        const took = Math.max(0, Math.round(ms));
        apartMs += took;
        this.#add(attempt, phase === "connect" ? "connectMs" : "uploadMs", took);
      },
      answered: (httpStatus, upstreamRequestId) => {
        Object.assign(this.#of(attempt), { httpStatus, upstreamRequestId });
      },
    };
    try {
      return await submit(tracing);
    } finally {
      this.#add(attempt, "submitMs", this.#since(start) - apartMs);
    }
  }

  /** The upstream's id of the job, if it is known. */
  job(attempt: Attempt, jobId: string | undefined): void {
    if (jobId !== undefined) this.#of(attempt).jobId = jobId;
  }

  polled(attempt: Attempt): void {
    this.#add(attempt, "polls", 1);
  }

  pollFailed(attempt: Attempt): void {
    this.#add(attempt, "failedPolls", 1);
  }

  /** Measures how long fetching an output takes, and separately how long processing it takes. */
  async output<T>(
    attempt: Attempt,
    bring: () => Promise<Pieces> | Uint8Array,
    store: (source: Uint8Array | Pieces) => Promise<T>,
  ): Promise<T> {
    const start = this.#clock.elapsed();
    let cameMs: number | undefined;
    try {
      const source = await bring();
      if (source instanceof Uint8Array) return await store(source);
      cameMs = this.#clock.elapsed() - start;
      const came = (ms: number) => {
        cameMs = (cameMs ?? 0) + ms;
      };
      return await store(timed(source, this.#clock, came));
    } finally {
      const fetchMs = Math.round(cameMs ?? 0);
      if (cameMs !== undefined) this.#add(attempt, "fetchMs", fetchMs);
      this.#add(attempt, "storeMs", this.#since(start) - fetchMs);
    }
  }

  /** The transition with the measurements of its attempt. */
  along(transition: Transition, attempt: Attempt | undefined): Transition {
    const known = attempt && this.#known.get(attempt.taskId);
    const isOfIt = known !== undefined && known.id === transition.attempt?.id;
    return isOfIt ? traced(transition, { ...known.sums }) : transition;
  }

  /** Forgets an attempt that is over after this transition. */
  applied({ to, attempt: change }: Transition, attempt: Attempt | undefined): void {
    const isOver = to === "terminal" || change?.state === "rejected" || change?.state === "done";
    if (isOver && attempt !== undefined) this.#known.delete(attempt.taskId);
  }

  /** Forgets a task, which another node may have ended. */
  ended(task: TaskId): void {
    this.#known.delete(task);
  }

  /** What is known about an attempt, including measurements by an earlier process. */
  #of({ id, taskId, trace }: Attempt): Sums {
    const known = this.#known.get(taskId);
    if (known?.id === id) return known.sums;
    const sums = { ...trace };
    this.#known.set(taskId, { id, sums });
    return sums;
  }

  #add(attempt: Attempt, name: Counted, amount: number): void {
    const sums = this.#of(attempt);
    sums[name] = (sums[name] ?? 0) + Math.max(0, amount);
  }

  #since(start: number): number {
    return Math.round(this.#clock.elapsed() - start);
  }
}

/** The same pieces, with the time spent waiting for them. */
async function* timed(
  source: Pieces,
  clock: Pick<Clock, "elapsed">,
  waited: (ms: number) => void,
): AsyncGenerator<Uint8Array> {
  let start = clock.elapsed();
  for await (const piece of source) {
    waited(clock.elapsed() - start);
    yield piece;
    start = clock.elapsed();
  }
  waited(clock.elapsed() - start);
}
