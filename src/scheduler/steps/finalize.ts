import { taskError } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { retryDelayMs } from "../../domain/task/backoff.ts";
import type { Attempt, AttemptOutput } from "../../domain/task/task.ts";
import { outputsKept } from "../../domain/task/transition.ts";
import { unquoted } from "../../domain/task/unquoted.ts";
import { heed } from "../routing/pace.ts";
import type { Step, StepResult } from "../step.ts";
import { endWith, storeOutput, unusable } from "./outputs.ts";

type Remote = Extract<AttemptOutput, { kind: "remote" }>;

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
      const renewed = createRenewed(step, attempt);
      for (const output of known) outputs.push(await bringHome(step, output, outputs.length, renewed));
      const isWhole = !outputs.some((output) => output.kind === "remote");
      return isWhole ? endWith(step, outputs, attempt) : tryAgain(step, attempt, outputs);
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
 * Fetches an output, at a new address if its own is refused and there is one.
 *
 * @returns the output as it is known now if it may be available later
 */
async function bringHome(
  step: Step,
  output: AttemptOutput,
  index: number,
  renewed: Renewed,
): Promise<AttemptOutput> {
  if (output.kind !== "remote") return output;
  try {
    return await fetched(step, output.ref);
  } catch (error) {
    const isRefused = error instanceof ProviderError && error.details.isFailure === true;
    const now = isRefused ? await renewed(index) : undefined;
    if (now === undefined || Bun.deepEquals(now, output)) return notHome(step, output, index, error);
    return fetched(step, now.ref).catch((again: unknown) => notHome(step, now, index, again));
  }
}

async function fetched(step: Step, ref: Json): Promise<AttemptOutput> {
  const adapter = step.attempt && step.adapterOf(step.attempt);
  if (adapter?.fetchOutput === undefined) throw new Error("The provider of this output cannot fetch it.");
  const bring = adapter.fetchOutput.bind(adapter, ref, step.signal);
  return { kind: "stored", file: await storeOutput(step, bring) };
}

/** @returns what becomes of an output that could not be fetched. @throws the error if it is not the output's */
async function notHome(step: Step, output: Remote, index: number, error: unknown): Promise<AttemptOutput> {
  if (error instanceof StorageError || step.signal.aborted) throw error;
  const failures = step.task.failures + 1;
  const detail = unquoted(error instanceof Error ? error.message : String(error), step.task.request);
  const { disposition, details } = error instanceof ProviderError ? error : {};
  const mayPass = disposition === "retry" && details?.isFailure !== true;
  if (disposition === "fail" || (await (mayPass ? isWaitOver(step) : failures >= FINALIZE_TRIES)))
    return unusable(step, index, detail);
  const fields = { task: step.task.id, output: index, failures, detail };
  step.deps.log.warn(fields, "an output could not be stored; trying again");
  return output;
}

/** Whether an output is waited for no longer whose provider has a temporary problem: it was paid for. */
async function isWaitOver(step: Step): Promise<boolean> {
  const { failures, cancelRequested } = step.task;
  return failures + 1 >= TROUBLED_TRIES && (cancelRequested || (await step.isLate()));
}

/** Where an output is by what its upstream says now; undefined if it says nothing of it. */
type Renewed = (index: number) => Promise<Remote | undefined>;

/** Signed addresses end. An upstream that is asked about its job once more, for all outputs together, may give new ones. */
function createRenewed(step: Step, attempt: Attempt): Renewed {
  let answer: Promise<PollResult | undefined> | undefined;
  return async (index) => {
    answer ??= askAgain(step, attempt);
    const said = await answer;
    const output = said?.kind === "succeeded" ? said.outputs[index] : undefined;
    return output?.kind === "remote" ? output : undefined;
  };
}

async function askAgain(step: Step, attempt: Attempt): Promise<PollResult | undefined> {
  const { operation } = attempt;
  const { pace } = step.deps;
  const adapter = step.adapterOf(attempt);
  if (adapter?.poll === undefined || operation === undefined) return undefined;
  if (pace.poll(attempt, step.task.id) > 0) return undefined;
  try {
    return await adapter.poll(operation, step.signal);
  } catch (error) {
    step.signal.throwIfAborted();
    heed(pace, attempt, error);
    return undefined;
  }
}

/** Keeps the retrieved outputs, so that only the rest is fetched again. */
function tryAgain(step: Step, attempt: Attempt, outputs: readonly AttemptOutput[]): Promise<StepResult> {
  const { clock, random } = step.deps;
  const failures = step.task.failures + 1;
  const now = clock.now();
  const dueAt = now + retryDelayMs(failures, random());
  return step.settle(outputsKept(now, attempt.id, outputs, { dueAt, failures }));
}
