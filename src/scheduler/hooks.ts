import type { AttemptId, LaneId, TaskId } from "../domain/ids.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Attempt } from "../domain/task/task.ts";
import type { Transition } from "../domain/task/transition.ts";

/** A job whose upstream calls at its end is polled less often by this factor, */
const PATIENCE = 10;
/** but no sooner than this, because a call takes time too, and at least this often, so that a lost call costs no more. */
const LEAST_PATIENCE_MS = 2_000;
const MOST_PATIENCE_MS = 60_000;
/** However many calls come for one attempt, they cause at most one poll within this time. */
const SPACING_MS = 1_000;
/** An account is quiet when this many of its jobs in a row have ended without a call, */
const MOST_MISSED = 5;
/** for this long, because calls come a little after the end. Its jobs are then polled as if no calls would come. */
const QUIET_AFTER_MS = 30_000;

export interface HooksDeps {
  readonly tasks: Pick<TaskStore, "nudge">;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly log: Log;
  /** The address that an attempt's upstream may call; undefined if this service has no public address. */
  readonly addressOf?: ((id: AttemptId) => string) | undefined;
  /** Something may be due now. */
  readonly wake: () => void;
}

interface Awaited {
  /** The upstream has accepted the job and the address. */
  isTold?: boolean;
  hasCome?: boolean;
  /** When a call makes the job be polled, on the clock that never jumps; absent after that poll. */
  openAt?: number | undefined;
}

/** The calls that an account did not make. */
interface Missed {
  readonly since: number;
  count: number;
}

/**
 * Calls of upstreams about their jobs. The content of a call is never trusted; a call only makes the next poll come sooner. All
 * state is in memory. Attempts of an earlier process are polled as often as without calls, because their calls may have come
 * while nobody listened.
 */
export class Hooks {
  readonly #deps: HooksDeps;
  readonly #awaited = new Map<AttemptId, Awaited>();
  /** The latest attempt of each task, as far as a call about it is awaited. */
  readonly #latest = new Map<TaskId, AttemptId>();
  /** When a poll was last brought forward, by attempt, on the clock that never jumps, oldest first. */
  readonly #nudged = new Map<AttemptId, number>();
  readonly #missed = new Map<LaneId, Missed>();

  constructor(deps: HooksDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the address that the attempt's upstream may call. It is called before the attempt is sent, because a call may come
   * before the answer.
   */
  offered({ id, taskId }: Pick<Attempt, "id" | "taskId">): string | undefined {
    const { addressOf } = this.#deps;
    if (addressOf === undefined) return undefined;
    if (this.#latest.get(taskId) !== id) this.ended(taskId);
    this.#latest.set(taskId, id);
    this.#awaited.getOrInsertComputed(id, () => ({}));
    return addressOf(id);
  }

  /** The upstream has accepted the job and the address. */
  told({ id }: Pick<Attempt, "id">): void {
    const awaited = this.#awaited.get(id);
    if (awaited !== undefined) awaited.isTold = true;
  }

  /** An upstream has called. Its job is polled now, or a second after the last poll that a call caused. */
  async came({ id, lane }: Pick<Attempt, "id" | "lane">): Promise<void> {
    const { tasks, clock, wake } = this.#deps;
    this.#missed.delete(lane);
    const awaited = this.#awaited.get(id);
    if (awaited !== undefined) awaited.hasCome = true;
    const now = clock.elapsed();
    const last = this.#nudged.get(id) ?? Number.NEGATIVE_INFINITY;
    // That poll is still to come, and serves this call too.
    if (last > now) return;
    const at = Math.max(now, last + SPACING_MS);
    this.#note(id, at, now);
    // Before the write, because the step that holds the task may end earlier.
    if (awaited !== undefined) awaited.openAt = at;
    const outcome = await tasks.nudge(id, clock.now() + Math.ceil(at - now));
    if (outcome === "nudged") wake();
  }

  /** A job is asked after now. */
  asked({ id }: Pick<Attempt, "id">): void {
    const awaited = this.#awaited.get(id);
    if (awaited?.openAt !== undefined && awaited.openAt <= this.#deps.clock.elapsed())
      awaited.openAt = undefined;
  }

  /** How long to wait before the next poll of a job. `usualMs` is the delay without calls. */
  delayMs({ id, lane }: Pick<Attempt, "id" | "lane">, usualMs: number): number {
    const { openAt, isTold = false } = this.#awaited.get(id) ?? {};
    if (openAt !== undefined) return Math.max(0, openAt - this.#deps.clock.elapsed());
    if (!isTold || this.#isQuiet(lane)) return usualMs;
    const patientMs = Math.max(usualMs * PATIENCE, LEAST_PATIENCE_MS);
    return Math.max(usualMs, Math.min(patientMs, MOST_PATIENCE_MS));
  }

  /** A job is over, according to its upstream. */
  over({ id, lane }: Pick<Attempt, "id" | "lane">): void {
    const { isTold = false, hasCome = false } = this.#awaited.get(id) ?? {};
    if (!isTold || hasCome) return;
    const wasQuiet = this.#isQuiet(lane);
    const since = this.#deps.clock.elapsed();
    this.#missed.getOrInsertComputed(lane, () => ({ since, count: 0 })).count += 1;
    if (wasQuiet || !this.#isQuiet(lane)) return;
    const what = "this provider does not call when its jobs are done; they are asked after as often as usual";
    this.#deps.log.warn({ provider: lane }, `${what}. See that public_url leads here from the internet`);
  }

  /** Forgets an attempt that is over after this transition, or that has no answer, because another attempt may follow it. */
  applied({ to, attempt: change }: Transition, attempt: Pick<Attempt, "taskId"> | undefined): void {
    const goesOn = change === undefined || change.state === "intent" || change.state === "accepted";
    if ((to === "terminal" || !goesOn) && attempt !== undefined) this.ended(attempt.taskId);
  }

  /** Forgets a task, which another node may have ended. */
  ended(task: TaskId): void {
    const id = this.#latest.get(task);
    if (id !== undefined) this.#awaited.delete(id);
    this.#latest.delete(task);
  }

  #isQuiet(lane: LaneId): boolean {
    const { since, count } = this.#missed.get(lane) ?? { since: 0, count: 0 };
    return count >= MOST_MISSED && this.#deps.clock.elapsed() - since >= QUIET_AFTER_MS;
  }

  #note(id: AttemptId, at: number, now: number): void {
    for (const [old, time] of this.#nudged) {
      if (time + SPACING_MS >= now) break;
      this.#nudged.delete(old);
    }
    this.#nudged.delete(id);
    this.#nudged.set(id, at);
  }
}
