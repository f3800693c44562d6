import { type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { nextPollDelayMs } from "../../domain/task/backoff.ts";
import { submitted } from "../../domain/task/transition.ts";
import { heed } from "../routing/pace.ts";
import type { Step, StepResult } from "../step.ts";
import { isGivenUp } from "./given-up.ts";
import { openInputs } from "./inputs.ts";
import { CANCEL_TRIES } from "./poll.ts";
import { canSubmitAgain, isToRepeat, LET_GO, outcomeUnknown, repeat } from "./submit.ts";

/**
 * Continues a task whose submission has no recorded outcome: the process died between intent and answer, or the answer was
 * lost. What is safe depends on the adapter. It may be able to find the attempt, or the task can be submitted again, for which
 * it returns to the queue. Otherwise the task ends uncharged, because a second submission might be charged too. Its deadline
 * matters only after several tries in vain, because the service may have been stopped until now.
 */
export async function recover(step: Step): Promise<StepResult> {
  const { task, attempt } = step;
  if (attempt === undefined) return outcomeUnknown(step);
  const adapter = step.adapterOf(attempt);
  if (adapter === undefined) {
    if (task.cancelRequested) return letGo(step);
    return (await step.isLate()) ? outcomeUnknown(step) : step.waitForProvider();
  }
  if (adapter.recover !== undefined) return ask(step, adapter, adapter.recover.bind(adapter));
  return submitAgain(step, adapter);
}

/** If the upstream cannot be asked. */
async function submitAgain(step: Step, adapter: ProviderAdapter): Promise<StepResult> {
  if (step.task.cancelRequested) return letGo(step);
  if (await isGivenUp(step)) return outcomeUnknown(step);
  if (canSubmitAgain(adapter)) return step.unanswered("queued");
  return (await isToRepeat(step, adapter)) ? repeat(step) : outcomeUnknown(step);
}

async function ask(
  step: Step,
  adapter: ProviderAdapter,
  question: NonNullable<ProviderAdapter["recover"]>,
): Promise<StepResult> {
  const { deps, task, attempt } = step;
  if (attempt === undefined) return outcomeUnknown(step);
  const waitMs = deps.pace.poll(attempt, task.id);
  const isPaused = deps.pace.pausedMs(attempt, "poll") > 0;
  if (waitMs > 0 && (!isPaused || !(await step.isLate()))) return step.snooze(waitMs);
  return step.attempting(
    async () => {
      const inputs = await openInputs(deps, task.request, attempt.startedAt);
      const { startedAt } = attempt;
      const known = Array.isArray(inputs) ? inputs : undefined;
      const submission = { ...step.submission(), inputs: known, startedAt };
      const answer = await question(submission, step.signal);
      const now = deps.clock.now();
      if (answer.kind === "found") {
        deps.traces.job(attempt, answer.jobId);
        const dueAt = now + nextPollDelayMs(0, deps.random());
        return step.settle(submitted(now, attempt.id, answer.operation, dueAt));
      }
      if (answer.kind === "unable") return submitAgain(step, adapter);
      if (answer.kind === "unsettled")
        return step.snooze(nextPollDelayMs(Math.max(0, now - startedAt), deps.random()));
      const detail = "The upstream never received this attempt.";
      return task.cancelRequested
        ? step.cancel({ state: "rejected", detail })
        : step.requeue({ failures: task.failures }, detail);
    },
    async (error) => {
      heed(deps.pace, attempt, error);
      deps.log.warn({ task: task.id, provider: adapter.lane, err: error as Error }, "recovery failed");
      if (task.cancelRequested && task.failures + 1 >= CANCEL_TRIES) return letGo(step);
      const askedMs = error instanceof ProviderError ? error.details.retryAfterMs : undefined;
      if (await isGivenUp(step, askedMs ?? 0)) return outcomeUnknown(step);
      return step.retryLater(askedMs);
    },
  );
}

function letGo(step: Step): Promise<StepResult> {
  return step.letGo(LET_GO, "ambiguous");
}
