import { taskError } from "../../domain/errors.ts";
import type { StoredFile } from "../../domain/media/asset.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import type { AttemptOutput } from "../../domain/task/task.ts";
import type { Step, StepResult } from "../step.ts";
import { complete, storeOutput } from "./outputs.ts";

/** How often outputs that were paid for are retrieved before the task fails without them. */
const FINALIZE_TRIES = 5;

/** Retrieves the outputs of an upstream that is done, then completes the task in one transaction. Safe to run again. */
export async function finalize(step: Step): Promise<StepResult> {
  const { task, attempt } = step;
  if (attempt?.outputs === undefined) throw new Error(`Task ${task.id} is finalizing without outputs`);
  const { outputs, usage } = attempt;
  if (outputs.length === 0) return step.failAtCost(taskError("UPSTREAM_ERROR"), "No outputs.");
  const isRemote = outputs.some((output) => output.kind === "remote");
  if (isRemote && step.deps.provider(attempt.provider) === undefined) return step.waitForProvider();
  return step.attempting(
    async () => {
      const files: StoredFile[] = [];
      for (const output of outputs) files.push(await bringHome(step, output));
      return complete(step, files, usage);
    },
    (error) => finalizeTrouble(step, error),
  );
}

async function bringHome(step: Step, output: AttemptOutput): Promise<StoredFile> {
  if (output.kind === "stored") return output.file;
  const adapter = step.attempt && step.deps.provider(step.attempt.provider);
  if (adapter?.fetchOutput === undefined) throw new Error("The provider of this output cannot fetch it.");
  return storeOutput(step, await adapter.fetchOutput(output.ref, step.signal));
}

async function finalizeTrouble(step: Step, error: unknown): Promise<StepResult> {
  const failures = step.task.failures + 1;
  const detail = error instanceof Error ? error.message : String(error);
  const isFinal = error instanceof ProviderError && error.disposition === "fail";
  if (isFinal || failures >= FINALIZE_TRIES) return step.failAtCost(taskError("FINALIZATION_FAILED"), detail);
  step.deps.log.warn({ task: step.task.id, failures, detail }, "outputs could not be stored; trying again");
  return step.retryLater();
}
