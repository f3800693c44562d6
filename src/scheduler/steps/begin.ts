import type { AttemptIntent } from "../../domain/ports/claims.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { ConsideredWay } from "../../domain/task/routing.ts";
import type { Lease, Task } from "../../domain/task/task.ts";
import { tellsOf } from "../../domain/task/transition.ts";
import { measureQueue } from "../measures.ts";
import type { SentRoute } from "../routing/standing.ts";
import type { StepDeps } from "../step.ts";

/** The facts with which an attempt is begun. */
export interface Beginning {
  readonly adapter: ProviderAdapter;
  readonly sent: SentRoute;
  readonly intent: AttemptIntent;
}

interface Plan {
  readonly task: Pick<Task, "id" | "accountId">;
  readonly adapter: ProviderAdapter;
  readonly upstreamModel: string;
  readonly considered: readonly ConsideredWay[] | undefined;
  /** When the attempt starts. */
  readonly at: number;
  readonly deadlineMs: number;
}

/** Takes the right to begin an attempt. @returns the beginning, or how many milliseconds to wait for the right */
export function enter(deps: StepDeps, plan: Plan): Beginning | number {
  const { task, adapter, upstreamModel, considered, at, deadlineMs } = plan;
  const { lane } = adapter;
  const way = { lane, upstreamModel };
  const sent = { ...way, taskId: task.id, accountId: task.accountId };
  // Another task is trying it right now.
  if (deps.standing.enter(sent) > 0) return 0;
  const waitMs = deps.pace.submit(way, task.id);
  if (waitMs > 0) {
    deps.standing.leave(sent);
    return waitMs;
  }
  const id = deps.ids.create("att");
  const intent = { ...way, id, terms: adapter.terms?.(), considered, at, deadlineAt: at + deadlineMs };
  return { adapter, sent, intent };
}

/** Gives the right back: the attempt was not begun. */
export function leave({ standing }: StepDeps, { sent }: Beginning): void {
  standing.leave(sent);
}

/** Records that the attempt has begun. @returns the lease in its new state */
export function begun(deps: StepDeps, lease: Lease, { adapter, intent }: Beginning): Lease {
  const { task } = lease;
  const { id, lane, upstreamModel, terms, at, deadlineAt } = intent;
  deps.loads.began(lane);
  measureQueue(deps, lease, lane, at);
  deps.feed.publish(task, false);
  if (tellsOf(task, "started")) deps.callbackDue();
  const sequence = task.attempts + 1;
  return {
    ...lease,
    task: {
      ...task,
      stage: "submitting",
      status: "processing",
      attempts: sequence,
      startedAt: task.startedAt ?? at,
      deadlineAt: task.deadlineAt ?? deadlineAt,
    },
    attempt: {
      id,
      taskId: task.id,
      sequence,
      provider: adapter.id,
      lane,
      terms,
      upstreamModel,
      state: "intent",
      startedAt: at,
    },
  };
}
