import { type TaskError, taskError } from "../../domain/errors.ts";
import { findRoute } from "../../domain/model/model.ts";
import { type InputFile, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { nextPollDelayMs, retryDelayMs } from "../../domain/task/backoff.ts";
import { submitted } from "../../domain/task/transition.ts";
import type { Step, StepResult } from "../step.ts";
import { recordOutputs } from "./outputs.ts";

/** Refusals in a row after which a route is given up. Attempts cut short by a crash do not count. */
const MAX_REFUSALS = 5;

interface Submission {
  readonly adapter: ProviderAdapter;
  readonly inputs: readonly InputFile[];
  /** An earlier send of the attempt may have been accepted. A refusal now does not rule that out. */
  readonly isResend: boolean;
}

/** Sends the attempt, whose intent is committed, and records the outcome. */
export async function submit(step: Step, to: Submission): Promise<StepResult> {
  const { deps, task, attempt, signal } = step;
  if (attempt === undefined) throw new Error(`Task ${task.id} has no attempt to submit`);
  const { id, upstreamModel } = attempt;
  const model = deps.catalog.find(task.model);
  const { request } = task;
  const wording = model && findRoute(model, attempt)?.wording;
  return step.attempting(
    async () => {
      const previews = step.previews();
      const { inputs } = to;
      const answer = await to.adapter.submit(
        { attempt: id, taskId: task.id, upstreamModel, wording, request, inputs, previews },
        signal,
      );
      if (answer.kind === "outputs") return recordOutputs(step, answer);
      const now = deps.clock.now();
      const dueAt = now + (answer.pollAfterMs ?? nextPollDelayMs(0, deps.random()));
      return step.settle(submitted(now, id, answer.operation, dueAt));
    },
    (error) => submitTrouble(step, to, error),
  );
}

async function submitTrouble(
  step: Step,
  { adapter, isResend }: Submission,
  error: unknown,
): Promise<StepResult> {
  const { deps, task } = step;
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const trouble =
    error instanceof ProviderError
      ? error
      : new ProviderError("unknown", "UPSTREAM_ERROR", detail, {}, error);
  const { disposition, code } = trouble;
  deps.log.warn(
    { task: task.id, provider: adapter.id, disposition, error_code: code, detail },
    "submission failed",
  );
  const publicError = taskError(code, trouble.publicMessage);
  if (disposition === "fail") return step.fail(publicError, { state: "rejected", detail });
  // A new attempt would have a new key, and could cause a second generation.
  if (disposition === "unknown" || isResend) return outcomeUnknown(step, adapter, detail);
  const failures = task.failures + 1;
  if (disposition === "reroute" || failures >= MAX_REFUSALS) return tryNextRoute(step, publicError, detail);
  const delayMs = trouble.details.retryAfterMs ?? retryDelayMs(failures, deps.random());
  return step.requeue({ failures, delayMs }, detail);
}

function tryNextRoute(step: Step, error: TaskError, detail: string): Promise<StepResult> {
  const to = step.routeFrom(step.task.routeIndex + 1);
  return to ? step.requeue({ failures: 0, to }, detail) : step.fail(error, { state: "rejected", detail });
}

/** The upstream may have accepted it. Ask it, or send the same key again; otherwise end the task and charge nothing. */
function outcomeUnknown(step: Step, adapter: ProviderAdapter, detail: string): Promise<StepResult> {
  return adapter.recover === undefined && !adapter.submitIsIdempotent
    ? step.failAtCost(taskError("OUTCOME_UNKNOWN"), detail, "ambiguous")
    : step.retryLater();
}
