import type { AttemptId, LaneId, TaskId } from "../../src/domain/ids.ts";
import { isJsonObject, type Json } from "../../src/domain/json.ts";
import {
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type Submitted,
} from "../../src/domain/ports/provider.ts";
import { unansweredSubmission } from "../../src/providers/kit/classify.ts";
import { NoAnswer } from "../../src/providers/kit/http.ts";
import type { Dice } from "./dice.ts";
import {
  failedForNothing,
  moderatedJob,
  moderates,
  questioned,
  REACTIONS,
  type Reaction,
  tested,
} from "./routes-answers.ts";
import { LANES, laneOf, type Mood, type Place, providerOf, type RoutesPlan } from "./routes-plan.ts";
import type { RoutesWatch } from "./routes-watch.ts";
import type { Owner, World } from "./time-world.ts";

/** A job as its upstream knows it. */
export interface Job {
  readonly attempt: AttemptId;
  readonly task: TaskId;
  readonly lane: LaneId;
  readonly readyAt: number;
  /** How it ends at `readyAt`, where it makes nothing and costs nothing. */
  readonly failure?: PollResult | undefined;
  /** Making it twice harms nobody. */
  readonly isHarmless: boolean;
}

export const CONCURRENCY = 40;
const JOB_MS: [number, number] = [2_000, 25_000];
/** One task in so many is refused for its content, before or after it was taken. */
const MODERATED = 100;
/** One question in so many finds that the engine has been restarted. */
const FORGETS = 200;

/** Upstreams that go on whatever happens to the service, and are well or not as planned. */
export function createRoutesUpstream(deps: {
  readonly world: World;
  readonly dice: Dice;
  readonly plan: Pick<RoutesPlan, "moodOf">;
  readonly watch: RoutesWatch;
}) {
  const { world, dice, plan, watch } = deps;
  const jobs = new Map<AttemptId, Job>();
  const jobsOf = new Map<TaskId, Job[]>();

  /** Answers after a while, unless nobody is left to be answered. */
  function answer<T>(owner: Owner, signal: AbortSignal, afterMs: number, give: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      const end = async () => {
        try {
          resolve(give());
        } catch (error) {
          reject(error);
        }
      };
      world.at(world.trueMs() + afterMs, () => void world.doing(end), owner);
    });
  }

  function take(attempt: AttemptId, task: TaskId, place: Place, mood: Mood): void {
    if (jobs.has(attempt) && !place.isSafe) return;
    const readyAt = world.trueMs() + dice.between(...JOB_MS);
    const isModerated = dice.between(1, MODERATED) === 1;
    const fails = isModerated ? moderatedJob() : mood === "failing" ? failedForNothing(dice) : undefined;
    const job: Job = {
      ...{ attempt, task, lane: laneOf(place), readyAt, failure: fails, isHarmless: place.isSafe },
    };
    jobs.set(attempt, job);
    jobsOf.getOrInsertComputed(task, () => []).push(job);
  }

  function react(mood: Mood): Reaction {
    return (dice.between(1, MODERATED) === 1 ? moderates : REACTIONS[mood])(dice);
  }

  function jobOf(operation: Json): Job {
    const id = isJsonObject(operation) ? operation.job : undefined;
    const job = jobs.get(id as AttemptId);
    if (job === undefined) throw new Error(`The upstream has no job ${JSON.stringify(operation)}.`);
    return job;
  }

  function adapterOf(owner: Owner, place: Place): ProviderAdapter {
    const lane = laneOf(place);
    const pollAfterMs = askedAfterMs(place);
    const mood = () => plan.moodOf(lane, world.trueMs());
    /** Asks about a job. What is answered is decided when it is. */
    function ask<T>(signal: AbortSignal, give: () => T): Promise<T> {
      const { afterMs, trouble } = questioned(mood(), dice);
      return answer(owner, signal, afterMs, () => (trouble === undefined ? give() : trouble()));
    }
    const adapter: ProviderAdapter = {
      ...{ id: providerOf(place), lane, concurrency: CONCURRENCY },
      ...{ submitIsIdempotent: false, repeatIsSafe: place.isSafe },
      submit({ attempt, taskId }, signal) {
        const now = mood();
        const reaction = react(now);
        const others = (jobsOf.get(taskId) ?? []).filter((job) => job.attempt !== attempt);
        watch.submitted(
          { lane, task: taskId, attempt },
          { others, isKnown: jobs.has(attempt) && !place.isSafe },
        );
        // A request is with the upstream the moment it leaves; only the answer takes its time.
        if (reaction.isTaken) take(attempt, taskId, place, now);
        return answer(owner, signal, reaction.afterMs, (): Submitted => {
          watch.answered({ lane, task: taskId, attempt }, reaction);
          reaction.trouble?.();
          if (!jobs.has(attempt)) unansweredSubmission(new NoAnswer(false, "no job"));
          return { kind: "operation", operation: { job: attempt }, pollAfterMs };
        });
      },
      poll(operation, signal) {
        const job = jobOf(operation);
        return ask(signal, (): PollResult => pollOf(job, place));
      },
      fetchOutput(ref, signal) {
        jobOf(ref);
        const isGone = mood() === "gone";
        return answer(owner, signal, dice.between(10, 100), () => {
          if (isGone) throw new ProviderError("retry", "FINALIZATION_FAILED", "ECONNREFUSED");
          return picture();
        });
      },
      test: (signal) => {
        watch.tested();
        return answer(owner, signal, 50, () => tested(mood()));
      },
    };
    if (!place.isAsked) return adapter;
    return {
      ...adapter,
      recover: ({ attempt, taskId }, signal) =>
        ask(signal, () => {
          if (jobs.has(attempt)) return { kind: "found", operation: { job: attempt } };
          watch.freed(taskId);
          return { kind: "absent" };
        }),
    };
  }

  function pollOf(job: Job, place: Place): PollResult {
    if (place.isSafe && dice.between(1, FORGETS) === 1)
      return { kind: "failed", code: "UPSTREAM_ERROR", message: "The engine has no such job.", isLost: true };
    if (world.trueMs() < job.readyAt) return { kind: "pending", pollAfterMs: askedAfterMs(place) };
    if (job.failure === undefined)
      return { kind: "succeeded", outputs: [{ kind: "remote", ref: { job: job.attempt } }] };
    watch.jobFailed(job);
    return job.failure;
  }

  return {
    jobs: (): ReadonlyMap<AttemptId, Job> => jobs,
    adapters: (owner: Owner) => LANES.map((place) => adapterOf(owner, place)),
  };
}

/** When to ask again, where an upstream says so. */
const askedAfterMs = ({ isSafe }: Place) => (isSafe ? undefined : 2_000);

/** Whether an upstream has ended a job, so that another one may follow. */
export function isEnded({ failure, readyAt, isHarmless }: Job, now: number): boolean {
  return isHarmless || (failure !== undefined && now >= readyAt);
}

async function* picture() {
  yield new TextEncoder().encode("picture");
}
