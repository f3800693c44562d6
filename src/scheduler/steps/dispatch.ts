import { taskError } from "../../domain/errors.ts";
import type { InputFile, ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Lease } from "../../domain/task/task.ts";
import { SETTLED, Step, type StepResult } from "../step.ts";
import { fetchInputs, openInputs } from "./inputs.ts";
import { submit } from "./submit.ts";

/** Starts a queued task: finds its route, prepares its inputs, writes the attempt and submits. */
export async function dispatch(step: Step): Promise<StepResult> {
  const { deps, task } = step;
  if (task.cancelRequested) return step.cancel();
  if (step.isLate()) return step.fail(taskError("DEADLINE_EXCEEDED"));

  const model = deps.catalog.find(task.model);
  const chosen = step.routeFrom(task.routeIndex);
  const adapter = chosen && deps.provider(chosen.route.provider);
  if (model === undefined || chosen === undefined || adapter === undefined)
    return step.fail(taskError("NO_ROUTE_AVAILABLE"));
  if (chosen.route.provider !== task.lane) return step.requeue({ failures: 0, to: chosen });

  if (task.request.inputs.some((input) => input.source.kind === "url")) return fetchInputs(step);
  const inputs = await openInputs(deps, task.request);
  if (!Array.isArray(inputs))
    return step.fail(taskError("INPUT_UNREACHABLE", `${inputs.missing} is no longer stored.`));

  const { upstreamModel } = chosen.route;
  return begin(step, { adapter, inputs, upstreamModel, deadlineMs: model.deadlineMs });
}

/** Writes the attempt before any byte leaves, then submits it. */
async function begin(
  step: Step,
  to: { adapter: ProviderAdapter; inputs: readonly InputFile[]; upstreamModel: string; deadlineMs: number },
): Promise<StepResult> {
  const { deps, lease, task } = step;
  const { adapter, inputs, upstreamModel } = to;
  const at = deps.clock.now();
  const id = deps.ids.create("att");
  const deadlineAt = at + to.deadlineMs;
  const begun = await deps.tasks.begin(lease, { id, provider: adapter.id, upstreamModel, at, deadlineAt });
  if (begun === "lease_lost") return SETTLED;
  if (begun === "cancel_requested") return step.cancel();
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
  return submit(new Step(deps, submitting, step.signal), { adapter, inputs, isResend: false });
}
