import { taskError } from "../../domain/errors.ts";
import { submitted } from "../../domain/task/transition.ts";
import type { Step, StepResult } from "../step.ts";
import { openInputs } from "./inputs.ts";
import { submit } from "./submit.ts";

/**
 * Continues a task whose submission has no recorded outcome: the process died between intent and answer, or the answer was lost.
 * What is safe depends on the adapter. Either it can say what became of the attempt, or it honours the attempt's id as a key, so
 * that the attempt can be sent again. Otherwise the task ends uncharged, because a second submission might be a second charge.
 */
export async function recover(step: Step): Promise<StepResult> {
  const { deps, task, attempt } = step;
  const adapter = attempt && deps.provider(attempt.provider);
  const unknown = () => step.failAtCost(taskError("OUTCOME_UNKNOWN"), undefined, "ambiguous");
  if (attempt === undefined) return unknown();
  if (adapter === undefined) return step.waitForProvider();
  const isLate = step.isLate();

  if (adapter.recover !== undefined) {
    const ask = adapter.recover.bind(adapter);
    return step.attempting(
      async () => {
        const answer = await ask(attempt.id, step.signal);
        const now = deps.clock.now();
        return answer.kind === "found"
          ? step.settle(submitted(now, attempt.id, answer.operation, now))
          : step.requeue({ failures: task.failures }, "The upstream never received this attempt.");
      },
      async (error) => {
        deps.log.warn({ task: task.id, provider: adapter.id, err: error as Error }, "recovery failed");
        return isLate ? unknown() : step.retryLater();
      },
    );
  }
  if (!adapter.submitIsIdempotent || isLate) return unknown();
  const inputs = await openInputs(deps, task.request);
  return Array.isArray(inputs) ? submit(step, { adapter, inputs, isResend: true }) : unknown();
}
