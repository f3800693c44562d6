import { taskError } from "../../domain/errors.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { retryDelayMs } from "../../domain/task/backoff.ts";
import type { Attempt, AttemptOutput } from "../../domain/task/task.ts";
import { outputsKept } from "../../domain/task/transition.ts";
import type { Step, StepResult } from "../step.ts";
import { endWith, storeOutput, unusable } from "./outputs.ts";

/** How often outputs that were paid for are requested before the task ends without them. */
const FINALIZE_TRIES = 5;
/** The same while their provider has a temporary problem, for about two minutes; then until the deadline of the task. */
const TROUBLED_TRIES = 10;

/**
 * Retrieves the outputs of an upstream that is done, each by itself, then ends the task in one transaction. Outputs that cannot
 * be retrieved are missing from the result. Safe to run again.
 */
export async function finalize(step: Step): Promise<StepResult> {
  const { task, attempt } = step;
  if (attempt?.outputs === undefined) throw new Error(`Task ${task.id} is finalizing without outputs`);
  const { outputs: known } = attempt;
  const isRemote = known.some((output) => output.kind === "remote");
  // Its provider may never come back.
  if (isRemote && step.adapterOf(attempt) === undefined)
    return task.cancelRequested ? step.letGo("Cancelled here; made upstream.") : step.waitForProvider();
  return step.attempting(
    async () => {
      const outputs: AttemptOutput[] = [];
      let isRefused = false;
      const onRefused = () => {
        isRefused = true;
      };
      for (const output of known) outputs.push(await bringHome(step, output, outputs.length, onRefused));
      const isWhole = !outputs.some((output) => output.kind === "remote");
      if (isWhole) return endWith(step, outputs, attempt);
      return tryAgain(step, attempt, isRefused ? await renewed(step, attempt, outputs) : outputs);
    },
    (error) => finalizeTrouble(step, error),
  );
}

/** The error concerns no single output. */
function finalizeTrouble(step: Step, error: unknown): Promise<StepResult> {
  const failures = step.task.failures + 1;
  const detail = error instanceof Error ? error.message : String(error);
  if (failures >= FINALIZE_TRIES) return step.failAtCost(taskError("FINALIZATION_FAILED"), detail);
  step.deps.log.warn({ task: step.task.id, failures, detail }, "a task could not be finished; trying again");
  return step.retryLater();
}

/**
 * @param onRefused called when its address was refused
 * @returns the unchanged output if it may be available later
 */
async function bringHome(
  step: Step,
  output: AttemptOutput,
  index: number,
  onRefused: () => void,
): Promise<AttemptOutput> {
  if (output.kind !== "remote") return output;
  const adapter = step.attempt && step.adapterOf(step.attempt);
  try {
    if (adapter?.fetchOutput === undefined) throw new Error("The provider of this output cannot fetch it.");
    const bring = adapter.fetchOutput.bind(adapter, output.ref, step.signal);
    return { kind: "stored", file: await storeOutput(step, bring) };
  } catch (error) {
    if (error instanceof StorageError || step.signal.aborted) throw error;
    const failures = step.task.failures + 1;
    const detail = error instanceof Error ? error.message : String(error);
    const { disposition, details } = error instanceof ProviderError ? error : {};
    const mayPass = disposition === "retry" && details?.isFailure !== true;
    if (disposition === "fail" || (await (mayPass ? isWaitOver(step) : failures >= FINALIZE_TRIES)))
      return unusable(step, index, detail);
    const fields = { task: step.task.id, output: index, failures, detail };
    step.deps.log.warn(fields, "an output could not be stored; trying again");
    if (details?.isFailure === true) onRefused();
    return output;
  }
}

/** Whether an output is waited for no longer whose provider has a temporary problem: it was paid for. */
async function isWaitOver(step: Step): Promise<boolean> {
  const { failures, cancelRequested } = step.task;
  return failures + 1 >= TROUBLED_TRIES && (cancelRequested || (await step.isLate()));
}

/** Signed addresses end. An upstream that is asked about its job once more may give new ones. */
async function renewed(
  step: Step,
  attempt: Attempt,
  outputs: readonly AttemptOutput[],
): Promise<readonly AttemptOutput[]> {
  const { operation, lane } = attempt;
  const adapter = step.adapterOf(attempt);
  if (adapter?.poll === undefined || operation === undefined) return outputs;
  if (step.deps.pace.poll(lane, step.task.id) > 0) return outputs;
  const answer = await adapter.poll(operation, step.signal).catch(() => undefined);
  step.signal.throwIfAborted();
  if (answer?.kind !== "succeeded") return outputs;
  return outputs.map((output, i) => {
    const now = answer.outputs[i];
    return output.kind === "remote" && now?.kind === "remote" ? now : output;
  });
}

/** Keeps the retrieved outputs, so that only the rest is fetched again. */
function tryAgain(step: Step, attempt: Attempt, outputs: readonly AttemptOutput[]): Promise<StepResult> {
  const { clock, random } = step.deps;
  const failures = step.task.failures + 1;
  const now = clock.now();
  const dueAt = now + retryDelayMs(failures, random());
  return step.settle(outputsKept(now, attempt.id, outputs, { dueAt, failures }));
}
