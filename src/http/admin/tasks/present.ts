import type { JsonObject } from "../../../domain/json.ts";
import { accountNameOf, providerOf } from "../../../domain/lane.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { ManagedTask } from "../../../domain/ports/task-store.ts";
import type { ConsideredWay } from "../../../domain/task/routing.ts";
import type { Attempt } from "../../../domain/task/task.ts";
import type { StoryReading } from "../../../service/read-story.ts";
import type { TraceReading } from "../../../service/read-trace.ts";
import { presentListedTask } from "../../tasks/present.ts";
import { presentAttempt, presentStory } from "../../tasks/story/present.ts";
import { partsOf, presentPhases } from "../../tasks/trace/present.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}
const named = ({ id, name }: Named): JsonObject => ({ id, name });

/** A task in a listing of all accounts. */
export function presentManagedTask(
  { account, key, provider, ...task }: ManagedTask,
  origin: string,
): JsonObject {
  return { ...presentListedTask(task, origin), account: named(account), key: named(key), provider };
}

/** A task's story with its routes, and what was recorded about its attempts for the operator. */
export function presentManagedStory(story: StoryReading, origin: string): JsonObject {
  const { task, account, attempts } = story;
  return {
    ...presentStory(story, origin),
    account: named(account),
    provider: task.lane,
    attempts: attempts.map((attempt) => ({
      ...presentAttempt(task, attempt),
      route: { provider: attempt.lane, upstream_model: attempt.upstreamModel },
      detail: attempt.detail,
    })),
  };
}

/** A task's trace for an operator (docs/routing.md 8). */
export function presentManagedTrace(trace: TraceReading, origin: string): JsonObject {
  const { task, attempts: told, ...rest } = partsOf(presentManagedStory(trace, origin), trace, origin);
  const attempts = trace.attempts.map((attempt, i) => {
    const { route: _, ...own } = told[i] ?? {};
    return { ...own, ...presentWay(attempt), phases: presentPhases(trace.phases.get(attempt.id)) };
  });
  const latest = trace.attempts.at(-1);
  const considered = latest === undefined ? [] : presentConsidered(latest);
  return { task, routes_considered: considered, attempts, ...rest };
}

/** What an operator sees of an attempt in addition. */
function presentWay(attempt: Attempt): JsonObject {
  const { lane, upstreamModel, state, costMicros, considered, trace = {} } = attempt;
  return {
    ...{ provider: providerOf(lane), account: accountNameOf(lane), upstream_model: upstreamModel, state },
    cost: costMicros === undefined ? undefined : formatAmount(costMicros),
    upstream_id: trace.jobId,
    http_status: trace.httpStatus,
    upstream_request_id: trace.upstreamRequestId,
    routes_considered: considered === undefined ? undefined : presentConsidered(attempt),
  };
}

/** If there was only one way, no choice was recorded. */
function presentConsidered(attempt: Attempt): JsonObject[] {
  const ways: readonly ConsideredWay[] = attempt.considered ?? [{ ...attempt, verdict: "chosen" }];
  return ways.map(({ lane, upstreamModel, verdict }) => ({
    provider: providerOf(lane),
    // If a whole provider is off, the entry names no account.
    account: verdict === "off" && providerOf(lane) === lane ? undefined : accountNameOf(lane),
    ...{ upstream_model: upstreamModel, verdict },
  }));
}
