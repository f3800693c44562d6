import { taskError } from "../../domain/errors.ts";
import { chooseRoute } from "../../domain/task/routing.ts";
import type { Lease } from "../../domain/task/task.ts";
import { cancelled, requeued } from "../../domain/task/transition.ts";
import { deadlineError, SETTLED, type StepDeps, type StepResult, settle, settleFailed } from "../context.ts";
import { fetchInputs, openInputs } from "./inputs.ts";
import { submit } from "./submit.ts";

/** A queued task: find its route, make its inputs ready, write the attempt, submit. */
export async function dispatch(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  const { task } = lease;
  const now = deps.clock.now();
  if (task.cancelRequested) return settle(deps, lease, cancelled(task, now));
  if (task.deadlineAt !== undefined && now >= task.deadlineAt)
    return settleFailed(deps, lease, deadlineError());

  const model = deps.catalog.find(task.model);
  const chosen = model && chooseRoute(model, (id) => deps.provider(id) !== undefined, task.routeIndex);
  const adapter = chosen && deps.provider(chosen.route.provider);
  if (model === undefined || chosen === undefined || adapter === undefined) {
    return settleFailed(deps, lease, taskError("NO_ROUTE_AVAILABLE"));
  }
  if (chosen.route.provider !== task.lane) {
    const again = { dueAt: now, failures: 0, lane: chosen.route.provider, routeIndex: chosen.index };
    return settle(deps, lease, requeued(now, again));
  }

  if (task.request.inputs.some((input) => input.source.kind === "url")) {
    const fetched = await fetchInputs(deps, lease, signal);
    return fetched.kind === "settled" ? fetched : dispatch(deps, fetched.lease, signal);
  }
  const inputs = await openInputs(deps, task.request);
  if (!Array.isArray(inputs)) {
    return settleFailed(
      deps,
      lease,
      taskError("INPUT_UNREACHABLE", `${inputs.missing} is no longer stored.`),
    );
  }

  const at = deps.clock.now();
  const attempt = {
    id: deps.ids.create("att"),
    provider: adapter.id,
    upstreamModel: chosen.route.upstreamModel,
    at,
    deadlineAt: at + model.deadlineMs,
  };
  const begin = await deps.tasks.begin(lease, attempt);
  if (begin === "lease_lost") return SETTLED;
  if (begin === "cancel_requested") return settle(deps, lease, cancelled(task, at));
  deps.feed.publish(task, false);
  const begun: Lease = {
    ...lease,
    task: {
      ...task,
      stage: "submitting",
      status: "processing",
      attempts: task.attempts + 1,
      startedAt: task.startedAt ?? at,
      deadlineAt: task.deadlineAt ?? attempt.deadlineAt,
    },
    attempt: {
      id: attempt.id,
      taskId: task.id,
      sequence: task.attempts + 1,
      provider: attempt.provider,
      upstreamModel: attempt.upstreamModel,
      state: "intent",
      startedAt: at,
    },
  };
  return submit(deps, begun, { adapter, inputs, isResend: false }, signal);
}
