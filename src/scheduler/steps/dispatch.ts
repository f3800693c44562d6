import { taskError } from "../../domain/errors.ts";
import type { InputFile, ProviderAdapter } from "../../domain/ports/provider.ts";
import { chooseRoute } from "../../domain/task/routing.ts";
import type { Lease } from "../../domain/task/task.ts";
import { cancelled, requeued } from "../../domain/task/transition.ts";
import { deadlineError, SETTLED, type StepDeps, type StepResult, settle, settleFailed } from "../context.ts";
import { fetchInputs, openInputs } from "./inputs.ts";
import { submit } from "./submit.ts";

/** Starts a queued task: finds its route, prepares its inputs, writes the attempt and submits. */
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

  const { upstreamModel } = chosen.route;
  return begin(deps, lease, { adapter, inputs, upstreamModel, deadlineMs: model.deadlineMs }, signal);
}

/** Writes the attempt before any byte leaves, then submits it. */
async function begin(
  deps: StepDeps,
  lease: Lease,
  to: { adapter: ProviderAdapter; inputs: readonly InputFile[]; upstreamModel: string; deadlineMs: number },
  signal: AbortSignal,
): Promise<StepResult> {
  const { task } = lease;
  const { adapter, inputs, upstreamModel } = to;
  const at = deps.clock.now();
  const id = deps.ids.create("att");
  const deadlineAt = at + to.deadlineMs;
  const begun = await deps.tasks.begin(lease, { id, provider: adapter.id, upstreamModel, at, deadlineAt });
  if (begun === "lease_lost") return SETTLED;
  if (begun === "cancel_requested") return settle(deps, lease, cancelled(task, at));
  deps.feed.publish(task, false);
  const sequence = task.attempts + 1;
  const submitting: Lease = {
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
      upstreamModel,
      state: "intent",
      startedAt: at,
    },
  };
  return submit(deps, submitting, { adapter, inputs, isResend: false }, signal);
}
