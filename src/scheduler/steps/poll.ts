import { taskError } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { dueAfter, nextPollDelayMs, retryDelayMs } from "../../domain/task/backoff.ts";
import { type ChosenRoute, isOut } from "../../domain/task/routing.ts";
import { snoozed } from "../../domain/task/transition.ts";
import { heed } from "../routing/pace.ts";
import { sentOf } from "../routing/standing.ts";
import type { Step, StepResult } from "../step.ts";
import { unquotedAnswer } from "../unquoted.ts";
import { isGivenUp } from "./given-up.ts";
import { recordOutputs } from "./outputs.ts";
import { previewsOf } from "./previews.ts";

/** After this many failed polls, a cancelled task is ended, whatever its upstream does. */
export const CANCEL_TRIES = 5;
/** After this many answers without a usable result, a task is ended. */
const UNUSABLE_TRIES = 5;
/** So many answers in a row that a job is unknown are believed. One alone may come from a server that has not heard of it. */
const LOST_TRIES = 3;

/** Polls the upstream of a running task. A poll without an answer never ends a task; only its deadline does. */
export async function poll(step: Step): Promise<StepResult> {
  const { task, attempt, signal } = step;
  const adapter = attempt && step.adapterOf(attempt);
  if (attempt?.operation === undefined) throw new Error(`Task ${task.id} is running without an operation`);
  if (adapter === undefined && task.cancelRequested) return letGo(step);
  if (adapter === undefined && !(await step.isLate())) return step.waitForProvider();
  if (adapter?.poll === undefined) return pollTrouble(step, new Error("The provider cannot be polled."));
  const { pace } = step.deps;
  const { operation } = attempt;
  const waitMs = pace.poll(attempt, task.id);
  if (waitMs > 0) {
    const isPaused = pace.pausedMs(attempt, "poll") > 0;
    // A pause may last for minutes, in which a job that nobody wants would be made and charged for.
    if (task.cancelRequested && isPaused) await tryToStop(step, adapter, operation, "a cancelled operation");
    // At its deadline it is asked after once, also in a pause: what was made by then was paid for.
    if (!isPaused || !(await step.isLate())) return step.snooze(waitMs);
  }
  const ask = adapter.poll.bind(adapter);
  return step.attempting(
    async () => {
      const cancelled = task.cancelRequested ? await adapter.cancel?.(operation, signal) : undefined;
      const canStop = adapter.cancel !== undefined && cancelled !== "unable";
      step.deps.traces.polled(attempt);
      step.deps.spans?.polled(attempt);
      step.deps.hooks.asked(attempt);
      const answer = await ask(operation, signal, previewsOf(step));
      return pollAnswer(step, adapter, operation, canStop, unquotedAnswer(answer, task.request));
    },
    (error) => pollTrouble(step, error),
  );
}

async function pollAnswer(
  step: Step,
  adapter: ProviderAdapter,
  operation: Json,
  canStop: boolean,
  answer: PollResult,
): Promise<StepResult> {
  const { deps, task, attempt } = step;
  const sent = sentOf(step);
  if (sent !== undefined) deps.standing.worked(sent, "poll");
  if (isDoubtful(step, adapter, answer) || isEmpty(step, answer)) return step.retryLater();
  if (attempt !== undefined && (answer.kind === "succeeded" || answer.kind === "failed"))
    deps.hooks.over(attempt);
  switch (answer.kind) {
    case "succeeded":
      return recordOutputs(step, answer);
    case "failed": {
      if (answer.isLost === true && adapter.repeatIsSafe === true && !task.cancelRequested)
        return submitAgain(step, answer.detail ?? answer.message);
      // Some upstreams forget what they have stopped.
      if (answer.isLost === true && task.cancelRequested)
        return step.cancel({ state: "done", detail: answer.detail ?? answer.message });
      return jobFailed(step, answer);
    }
    case "cancelled":
      return task.cancelRequested
        ? step.cancel({ state: "done" })
        : step.fail(taskError("UPSTREAM_ERROR"), { state: "done", detail: "Cancelled upstream." });
    case "pending": {
      if (task.cancelRequested && !canStop) return letGo(step);
      if (await step.isLate()) return expire(step, adapter, operation);
      const now = deps.clock.now();
      const usualMs = nextPollDelayMs(now - (attempt?.startedAt ?? now), deps.random());
      // The upstream says when to expect a result. A cancelled job may end sooner.
      const delayMs =
        task.cancelRequested || attempt === undefined
          ? usualMs
          : deps.hooks.delayMs(attempt, answer.pollAfterMs ?? usualMs);
      // A deadline that has passed and was moved meanwhile does not say when to ask again.
      const dueAt = dueAfter(now, delayMs, task.deadlineAt);
      const again = { dueAt, failures: 0, progress: answer.progress };
      return step.settle(snoozed(task, now, again, () => deps.ids.create("cb")));
    }
  }
}

/** Whether a job that may be charged for is said to be unknown for the first time, which is not yet believed. */
function isDoubtful({ task }: Step, { repeatIsSafe }: ProviderAdapter, answer: PollResult): boolean {
  if (answer.kind !== "failed" || answer.isLost !== true) return false;
  return repeatIsSafe !== true && !task.cancelRequested && task.failures + 1 < LOST_TRIES;
}

/** Whether a job is said to be done and nothing of what it made: it may be there a moment later. */
function isEmpty({ task }: Step, answer: PollResult): boolean {
  if (answer.kind !== "succeeded" || answer.outputs.length > 0) return false;
  return !task.cancelRequested && task.failures + 1 < UNUSABLE_TRIES;
}

/** Continues with the next route after a failure that cost nothing, if another route may succeed; otherwise ends the task. */
async function jobFailed(step: Step, answer: PollResult & { readonly kind: "failed" }): Promise<StepResult> {
  const { deps, task } = step;
  const sent = sentOf(step);
  const error = taskError(answer.code, answer.message);
  const detail = answer.detail ?? answer.message;
  if (answer.isCharged === true) return step.failAtCost(error, detail, { reported: answer.costMicros });
  if (answer.mayReroute === true && sent !== undefined)
    deps.standing.failed(sent, "job", detail ?? error.message);
  const to = answer.mayReroute === true ? await wayAfterFailure(step) : undefined;
  if (to === undefined || isOut(to) || task.cancelRequested || (await step.isLate()))
    return step.fail(error, { state: "done", detail });
  const fields = { task: task.id, provider: task.lane, next: to.lane, detail };
  deps.log.warn(fields, "job failed; trying another route");
  return step.passOn(to, detail ?? error.message);
}

/** The best way for a task whose job has failed; undefined if a job has failed on each way. */
function wayAfterFailure(step: Step): Promise<ChosenRoute | undefined> {
  return step.way(({ attempts = [], ...looking }) => ({
    ...looking,
    attempts: attempts.map((each) => (each.id === step.attempt?.id ? { ...each, state: "done" } : each)),
  }));
}

/** Submits a job again that its upstream lost. */
function submitAgain(step: Step, detail = "The upstream lost the job."): Promise<StepResult> {
  const { deps, task } = step;
  const delayMs = retryDelayMs(task.attempts, deps.random());
  deps.log.warn({ task: task.id, provider: task.lane, detail }, "job lost; submitting it again");
  return step.requeue({ failures: 0, delayMs }, detail);
}

/** Ends a task past its deadline, uncharged. Tells the upstream to stop, as a courtesy. */
async function expire(step: Step, adapter: ProviderAdapter, operation: Json): Promise<StepResult> {
  if (step.task.cancelRequested) return letGo(step);
  await tryToStop(step, adapter, operation, "an overdue operation");
  return step.failAtCost(taskError("DEADLINE_EXCEEDED"), "Overdue.");
}

async function tryToStop(step: Step, adapter: ProviderAdapter, operation: Json, what: string): Promise<void> {
  try {
    await adapter.cancel?.(operation, step.signal);
  } catch (error) {
    step.deps.log.warn({ task: step.task.id, err: error as Error }, `could not cancel ${what}`);
  }
}

/** Ends a cancelled task whose upstream cannot stop, or does not. */
function letGo(step: Step): Promise<StepResult> {
  return step.letGo("Cancelled here; still running upstream.");
}

async function pollTrouble(step: Step, error: unknown): Promise<StepResult> {
  heed(step.deps.pace, step.attempt, error);
  if (step.attempt !== undefined) step.deps.traces.pollFailed(step.attempt);
  const { id, failures: before, cancelRequested } = step.task;
  const failures = before + 1;
  const detail = error instanceof Error ? error.message : String(error);
  tellRefusal(step, error, detail);
  if (error instanceof ProviderError && isFinal(error, failures))
    return step.failAtCost(taskError(error.code, error.publicMessage), detail);
  if (cancelRequested && failures >= CANCEL_TRIES) return letGo(step);
  const askedMs = error instanceof ProviderError ? error.details.retryAfterMs : undefined;
  if (await isGivenUp(step, askedMs ?? 0)) return step.failAtCost(taskError("DEADLINE_EXCEEDED"), detail);
  step.deps.log.warn({ task: id, failures, detail }, "poll failed; asking again");
  return step.retryLater(askedMs);
}

function tellRefusal(step: Step, error: unknown, detail: string): void {
  const sent = sentOf(step);
  if (!(error instanceof ProviderError) || sent === undefined) return;
  const { refused: kind, retryAfterMs } = error.details;
  if (kind !== undefined) step.deps.standing.refused(sent, "poll", { kind, detail, retryAfterMs });
}

function isFinal({ disposition }: ProviderError, failures: number): boolean {
  if (disposition === "unusable") return failures >= UNUSABLE_TRIES;
  return disposition === "fail" || disposition === "reroute";
}
