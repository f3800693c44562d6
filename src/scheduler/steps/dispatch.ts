import { taskError } from "../../domain/errors.ts";
import type { InputFile, ProviderAdapter } from "../../domain/ports/provider.ts";
import { isOut } from "../../domain/task/routing.ts";
import type { Attempt, Lease } from "../../domain/task/task.ts";
import { resent } from "../../domain/task/transition.ts";
import { SETTLED, Step, type StepResult } from "../step.ts";
import { type Beginning, begun, enter, leave } from "./begin.ts";
import { isGivenUp } from "./given-up.ts";
import { fetchInputs, openInputs } from "./inputs.ts";
import { LET_GO, outcomeUnknown, submit } from "./submit.ts";
import { waitFor } from "./wait-for.ts";

/** Starts a queued task: finds its route, prepares its inputs, writes the attempt and submits. */
export async function dispatch(step: Step): Promise<StepResult> {
  const { deps, task, attempt } = step;
  const openAttempt = attempt?.state === "ambiguous" ? attempt : undefined;
  if (openAttempt !== undefined) {
    if (task.cancelRequested) return step.letGo(LET_GO, "ambiguous");
    if (await isGivenUp(step))
      return step.failAtCost(taskError("DEADLINE_EXCEEDED"), undefined, { state: "ambiguous" });
    const adapter = step.adapterOf(openAttempt);
    if (adapter === undefined) return (await step.isLate()) ? outcomeUnknown(step) : step.waitForProvider();
    if (!isMadeAgain(step, adapter)) return resend(step, adapter, openAttempt);
  }
  if (task.cancelRequested) return step.cancel();
  if (await step.isLate()) return step.fail(taskError("DEADLINE_EXCEEDED"));

  const model = deps.catalog.find(task.model);
  // The model may have other routes than when the task was created, and the state of accounts may have changed.
  const looking = await step.looking();
  const way = model && deps.routing.choose(model, task.request, looking);
  if (model === undefined || way === undefined || isOut(way))
    return step.fail(taskError("NO_ROUTE_AVAILABLE"));
  if (way.waitMs > 0) return waitFor(step, model, way);
  const adapter = deps.provider(way.lane);
  const isHere = way.lane === task.lane && way.index === task.routeIndex;
  if (adapter === undefined || !isHere) {
    // The task was taken over from there for lack of room, and would be taken over again.
    if (way.index === task.routeIndex) deps.takeovers.inVain(task.lane);
    return step.requeue({ failures: 0, to: way });
  }

  if (task.request.inputs.some((input) => input.source.kind === "url")) return fetchInputs(step);
  const at = deps.clock.now();
  const inputs = await openInputs(deps, task.request, at);
  if (!Array.isArray(inputs))
    return step.fail(taskError("INPUT_UNREACHABLE", `${inputs.missing} is no longer stored.`));

  const { upstreamModel } = way.route;
  const considered = deps.routing.verdicts(model, task.request, looking, way);
  const { deadlineMs } = model;
  const entered = enter(deps, { task, adapter, upstreamModel, considered, at, deadlineMs });
  return typeof entered === "number" ? step.snooze(entered) : begin(step, entered, inputs);
}

/** Whether another attempt replaces one without an answer, instead of repeating it. */
function isMadeAgain({ deps }: Step, { lane, repeatIsSafe, submitIsIdempotent }: ProviderAdapter): boolean {
  return repeatIsSafe === true || (!submitIsIdempotent && deps.provider(lane)?.onUnknown === "resubmit");
}

/** Repeats an attempt whose answer was lost, at an upstream that honours its id as a key. */
async function resend(step: Step, adapter: ProviderAdapter, attempt: Attempt): Promise<StepResult> {
  const { deps, lease, task } = step;
  // The operator may have changed the setting meanwhile.
  if (!adapter.submitIsIdempotent) return outcomeUnknown(step);
  const inputs = await openInputs(deps, task.request, attempt.startedAt);
  if (!Array.isArray(inputs)) return outcomeUnknown(step);
  const waitMs = deps.pace.submit(attempt, task.id);
  if (waitMs > 0 && (await isGivenUp(step, waitMs)))
    return step.failAtCost(taskError("DEADLINE_EXCEEDED"), undefined, { state: "ambiguous" });
  if (waitMs > 0) return step.snooze(waitMs);
  if ((await step.commit(resent(deps.clock.now(), attempt.id))) === "lease_lost") return SETTLED;
  const submitting: Lease = { ...lease, task: { ...task, stage: "submitting" } };
  const next = new Step(deps, submitting, step.signal, step.held);
  // A cancel since the claim has only set a mark.
  const isCancelled = (await deps.tasks.byId(task.id))?.cancelRequested === true;
  return isCancelled ? next.letGo(LET_GO, "ambiguous") : submit(next, { adapter, inputs, isResend: true });
}

/** Writes the attempt before any byte is sent, then submits it. */
async function begin(step: Step, beginning: Beginning, inputs: readonly InputFile[]): Promise<StepResult> {
  const { deps, lease, signal, held } = step;
  const { adapter, intent } = beginning;
  const written = await deps.tasks.begin(lease, intent);
  if (written !== "begun") leave(deps, beginning);
  if (written === "lease_lost") return SETTLED;
  if (written === "cancel_requested") return step.cancel();
  const submitting = begun(deps, lease, beginning);
  return submit(new Step(deps, submitting, signal, held), { adapter, inputs, isResend: false });
}
