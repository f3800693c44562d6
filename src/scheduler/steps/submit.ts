import { INTERRUPTED, taskError } from "../../domain/errors.ts";
import { type InputFile, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { dueAfter, nextPollDelayMs, retryDelayMs } from "../../domain/task/backoff.ts";
import { isOut } from "../../domain/task/routing.ts";
import { submitted } from "../../domain/task/transition.ts";
import { heed } from "../routing/pace.ts";
import { type RouteStanding, type SentRoute, sentOf } from "../routing/standing.ts";
import type { Step, StepResult } from "../step.ts";
import { recordOutputs } from "./outputs.ts";
import { previewsOf } from "./previews.ts";

/** After this many refusals in a row, a route is given up. Attempts that a crash cut short do not count. */
const MAX_REFUSALS = 5;
/** The detail of a cancelled task's attempt whose answer was lost. */
export const LET_GO = "Cancelled here; it may have been made upstream.";

interface Submission {
  readonly adapter: ProviderAdapter;
  readonly inputs: readonly InputFile[];
  /** The upstream may have accepted an earlier send of the attempt. A refusal now does not rule that out. */
  readonly isResend: boolean;
}

/** Sends the attempt, whose intent is committed, and records the outcome. */
export async function submit(step: Step, to: Submission): Promise<StepResult> {
  const { deps, task, attempt, signal } = step;
  const sent = sentOf(step);
  if (attempt === undefined || sent === undefined)
    throw new Error(`Task ${task.id} has no attempt to submit`);
  return step.attempting(
    async () => {
      const previews = previewsOf(step);
      const { inputs } = to;
      const hookUrl = deps.hooks.offered(attempt);
      const traceparent = deps.spans?.submission(task, attempt);
      const answer = await deps.traces.submission(attempt, (seen) => {
        const tracing = traceparent === undefined ? seen : { ...seen, traceparent };
        return to.adapter.submit({ ...step.submission(), inputs, previews, tracing, hookUrl }, signal);
      });
      deps.standing.worked(sent, "submission");
      if (answer.kind === "outputs") return recordOutputs(step, answer);
      deps.traces.job(attempt, answer.jobId);
      const now = deps.clock.now();
      if (answer.isHooked === true) deps.hooks.told(attempt);
      const usualMs = answer.pollAfterMs ?? nextPollDelayMs(0, deps.random());
      const dueAt = dueAfter(now, deps.hooks.delayMs(attempt, usualMs), task.deadlineAt);
      return step.settle(submitted(now, attempt.id, answer.operation, dueAt));
    },
    (error) => submitTrouble(step, to, error),
  );
}

async function submitTrouble(step: Step, to: Submission, error: unknown): Promise<StepResult> {
  const { deps, task, attempt } = step;
  const sent = sentOf(step);
  const { adapter } = to;
  const detail = detailOf(error);
  const trouble =
    error instanceof ProviderError
      ? error
      : new ProviderError("unknown", "UPSTREAM_ERROR", detail, {}, error);
  const { disposition, code } = trouble;
  heed(deps.pace, attempt, trouble, { limitsByModel: adapter.limitsByModel, said: "submission" });
  deps.log.warn(
    { task: task.id, provider: adapter.lane, disposition, error_code: code, detail },
    "submission failed",
  );
  if (sent !== undefined) tellStanding(deps.standing, sent, trouble, detail);
  if (disposition === "fail")
    return step.fail(taskError(code, trouble.publicMessage), { state: "rejected", detail });
  if (disposition === "unknown") return lostAnswer(step, adapter, trouble, detail);
  // If it took the attempt without reporting a job, the attempt's id finds the job, as after a lost answer.
  if (disposition === "unusable" && adapter.recover !== undefined)
    return lostAnswer(step, adapter, trouble, detail);
  if (disposition === "unusable" || to.isResend) return failedAgain(step, adapter, trouble, detail);
  return refused(step, adapter, trouble, detail);
}

/** In our words if an adapter threw it; a defect is reported by its name. */
function detailOf(error: unknown): string {
  if (error instanceof ProviderError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** What the error says about the route and the account. */
function tellStanding(
  standing: RouteStanding,
  sent: SentRoute,
  { disposition, details, pauseMs }: ProviderError,
  detail: string,
): void {
  const { refused: kind, retryAfterMs, isTooOften } = details;
  if (kind !== undefined) standing.refused(sent, "submission", { kind, detail, retryAfterMs });
  // The upstream read the request and found a fault in it.
  else if (disposition === "fail") standing.worked(sent, "submission");
  else if (isTooOften === true || pauseMs !== undefined || disposition === "reroute") standing.leave(sent);
  else standing.failed(sent, "submission", detail);
}

/**
 * The upstream certainly did not take the attempt. Another attempt follows: at once if another way is left, else after a while.
 */
async function refused(
  step: Step,
  adapter: ProviderAdapter,
  trouble: ProviderError,
  detail: string,
): Promise<StepResult> {
  const { deps, task } = step;
  const { pauseMs } = trouble;
  const { retryAfterMs, isFailure, isTooOften } = trouble.details;
  const way = await step.way();
  const isSame = way?.lane === task.lane && way.index === task.routeIndex;
  if (way !== undefined && way.tries === 0 && way.waitMs === 0)
    return step.requeue({ failures: task.failures, to: way }, detail);
  const failures = task.failures + 1;
  const isRefused = way === undefined || isOut(way);
  if (isRefused || failures >= MAX_REFUSALS || (isSame && trouble.disposition === "reroute")) {
    // Waiting is worthwhile for the operator's own engine that is starting or has a queue, and for an upstream that says when
    // to come again or that it gets too many requests.
    const isPatient = adapter.repeatIsSafe === true || pauseMs !== undefined || isTooOften === true;
    const mayPass = !isRefused && trouble.disposition === "retry" && isPatient && isFailure !== true;
    const error = taskError(trouble.code, trouble.publicMessage);
    if (!mayPass) return step.fail(error, { state: "rejected", detail });
  }
  // A pause that an upstream asks for applies to its own account only.
  const askedMs = isSame ? retryAfterMs : undefined;
  const delayMs = retryDelayMs(failures, deps.random(), askedMs);
  return step.requeue({ failures, delayMs, ...(way && { to: way }) }, detail);
}

/**
 * The upstream may have accepted the attempt. Asks it, or submits again if that is safe; otherwise ends the task and charges
 * nothing.
 */
async function lostAnswer(
  step: Step,
  adapter: ProviderAdapter,
  { code, details: { retryAfterMs } }: ProviderError,
  detail: string,
): Promise<StepResult> {
  if (adapter.recover !== undefined) return step.unanswered("submitting", detail, { retryAfterMs });
  if (canSubmitAgain(adapter)) return step.unanswered("queued", detail, { retryAfterMs });
  if (await isToRepeat(step, adapter)) return repeat(step, detail);
  return code === "UPSTREAM_TIMEOUT"
    ? step.failAtCost(taskError(code), detail, { state: "ambiguous" })
    : outcomeUnknown(step, detail);
}

/**
 * The upstream answered without a usable result, or refused an attempt that it may have taken before. A new attempt could cause
 * a second generation, so the open one is repeated. If waiting does not help, the task ends after a few tries.
 */
function failedAgain(
  step: Step,
  adapter: ProviderAdapter,
  trouble: ProviderError,
  detail: string,
): Promise<StepResult> {
  const { disposition, details } = trouble;
  const isLasting = disposition !== "retry" || details.isFailure === true;
  const isEnough = isLasting && step.task.failures + 1 >= MAX_REFUSALS;
  if (isEnough || !canSubmitAgain(adapter))
    return step.failAtCost(taskError(trouble.code, trouble.publicMessage), detail, { state: "ambiguous" });
  const { pauseMs } = trouble;
  const { failures } = step.task;
  // The pause applies to the account. When it ends, tasks that did not cause it go first; otherwise a task that is always
  // refused would delay them.
  const asked =
    pauseMs === undefined ? details.retryAfterMs : pauseMs + retryDelayMs(failures + 1, step.deps.random());
  return step.unanswered("queued", detail, { retryAfterMs: asked });
}

/** Whether another submission may follow one without an answer. */
export function canSubmitAgain({ submitIsIdempotent, repeatIsSafe }: ProviderAdapter): boolean {
  return submitIsIdempotent || repeatIsSafe === true;
}

/** Most submissions of a task that may each be charged to the operator. */
const MOST_UNKNOWN = 3;

/** Whether the operator prefers paying twice to a failed task. */
export async function isToRepeat({ deps, task }: Step, adapter: ProviderAdapter): Promise<boolean> {
  if (deps.provider(adapter.lane)?.onUnknown !== "resubmit") return false;
  const attempts = await deps.tasks.attempts(task.id);
  const settled = attempts.filter(({ state }) => state === "rejected" || state === "done");
  return attempts.length - settled.length < MOST_UNKNOWN;
}

/** Submits the task again. The operator pays what the submission without an answer may cost. */
export function repeat(step: Step, detail?: string): Promise<StepResult> {
  const end = step.endAtCost(detail, { state: "ambiguous" });
  return step.unanswered("queued", end.detail, end);
}

/** Ends a task that its upstream may have taken and that the upstream cannot look up. */
export function outcomeUnknown(step: Step, detail?: string): Promise<StepResult> {
  const isOurs = detail === undefined && step.attempt?.detail === undefined;
  const error = taskError("OUTCOME_UNKNOWN", isOurs ? INTERRUPTED : undefined);
  return step.failAtCost(error, detail, { state: "ambiguous" });
}
