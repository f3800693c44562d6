import type { AttemptId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import { isJsonObject, type Json } from "../../src/domain/json.ts";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import type { Dice } from "./dice.ts";
import type { Owner, World } from "./time-world.ts";

/** A job as the upstream knows it. */
export interface Job {
  readonly attempt: AttemptId;
  readonly task: TaskId;
  /** True time; infinite for one that never ends. */
  readonly readyAt: number;
  submissions: number;
  isCancelled: boolean;
}

export type Upstream = ReturnType<typeof createTimeUpstream>;

const SECOND = 1_000;
/** One job in so many never ends. */
const HANGING = 40;
/** The longest that the upstream is out of order, and that a job takes: together well below the deadline. */
const TROUBLE_MAX_MS = 90 * SECOND;
const LONG_JOB_MS = 240 * SECOND;

/**
 * An upstream that goes on whatever happens to the service: slow at times, out of order at times, and its answers get lost. It is asked
 * through one of two adapters: one can be asked what became of an attempt, the other honours the attempt as a key.
 */
export function createTimeUpstream(world: World, dice: Dice, onAsked: (task: TaskId) => void) {
  const jobs = new Map<AttemptId, Job>();
  const taskOf = new Map<AttemptId, TaskId>();
  let outOfOrderUntil = 0;

  /** Answers after a while, unless nobody is left to be answered. */
  function answer<T>(owner: Owner, signal: AbortSignal, give: () => T): Promise<T> {
    const isSlow = dice.chance(0.02);
    const delayMs = isSlow ? dice.between(5 * SECOND, 25 * SECOND) : dice.between(5, 400);
    const isRefused = world.trueMs() < outOfOrderUntil;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      const end = () => {
        if (isRefused) reject(new ProviderError("retry", "UPSTREAM_ERROR", "out of order"));
        else
          try {
            resolve(give());
          } catch (error) {
            reject(error);
          }
      };
      world.at(world.trueMs() + delayMs, () => void world.doing(async () => end()), owner);
    });
  }

  function accept(attempt: AttemptId, task: TaskId): void {
    const known = jobs.get(attempt);
    if (known !== undefined) known.submissions += 1;
    else {
      const takesMs = dice.chance(0.15)
        ? dice.between(60 * SECOND, LONG_JOB_MS)
        : dice.between(SECOND, 40_000);
      const readyAt = dice.between(1, HANGING) === 1 ? Number.POSITIVE_INFINITY : world.trueMs() + takesMs;
      jobs.set(attempt, { attempt, task, readyAt, submissions: 1, isCancelled: false });
    }
  }

  function jobOf(operation: Json): Job {
    const id = isJsonObject(operation) ? operation.job : undefined;
    const job = jobs.get(id as AttemptId);
    if (job === undefined) throw new Error(`The upstream has no job ${JSON.stringify(operation)}.`);
    return job;
  }

  return {
    jobs: (): readonly Job[] => [...jobs.values()],
    /** It refuses everything for a while. */
    breakDown(): void {
      outOfOrderUntil = world.trueMs() + dice.between(SECOND, TROUBLE_MAX_MS);
    },
    /** The way of one process to it. */
    adapterOf(owner: Owner, id: ProviderId, isIdempotent: boolean): ProviderAdapter {
      const adapter: ProviderAdapter = {
        id,
        lane: id,
        submitIsIdempotent: isIdempotent,
        concurrency: 1_000,
        async submit({ attempt, taskId }, signal) {
          onAsked(taskId);
          taskOf.set(attempt, taskId);
          const isOut = world.trueMs() < outOfOrderUntil;
          const isLost = dice.chance(0.05);
          // A request is with the upstream the moment it leaves; only the answer takes its time.
          if (!isOut && (!isLost || dice.chance(0.5))) accept(attempt, taskId);
          return answer(owner, signal, () => {
            if (isLost) throw new ProviderError("unknown", "UPSTREAM_ERROR", "the answer was lost");
            return { kind: "operation", operation: { job: attempt } };
          });
        },
        poll(operation, signal) {
          const job = jobOf(operation);
          onAsked(job.task);
          return answer(owner, signal, (): PollResult => {
            if (job.isCancelled) return { kind: "cancelled" };
            if (world.trueMs() < job.readyAt) return { kind: "pending" };
            return { kind: "succeeded", outputs: [{ kind: "remote", ref: operation }] };
          });
        },
        cancel: (operation, signal) =>
          answer(owner, signal, () => {
            jobOf(operation).isCancelled = true;
            return undefined;
          }),
        fetchOutput(ref, signal) {
          onAsked(jobOf(ref).task);
          return answer(owner, signal, async function* picture() {
            yield new TextEncoder().encode("picture");
          });
        },
      };
      if (isIdempotent) return adapter;
      return {
        ...adapter,
        recover({ attempt }, signal) {
          const task = taskOf.get(attempt);
          if (task !== undefined) onAsked(task);
          return answer(owner, signal, () =>
            jobs.has(attempt) ? { kind: "found", operation: { job: attempt } } : { kind: "absent" },
          );
        },
      };
    },
  };
}
