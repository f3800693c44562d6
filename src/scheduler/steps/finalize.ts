import { taskError } from "../../domain/errors.ts";
import type { StoredFile } from "../../domain/media/asset.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { AttemptOutput, Lease } from "../../domain/task/task.ts";
import {
  endedAtCost,
  retryLater,
  SETTLED,
  type StepDeps,
  type StepResult,
  settleFailed,
  waitForProvider,
} from "../context.ts";
import { complete, storeOutput } from "./outputs.ts";

/** How often outputs that were paid for are retrieved before the task fails without them. */
const FINALIZE_TRIES = 5;

/** Retrieves the outputs of an upstream that is done, then completes the task in one transaction. Safe to run again. */
export async function finalize(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  const { task, attempt } = lease;
  if (attempt?.outputs === undefined) throw new Error(`Task ${task.id} is finalizing without outputs`);
  if (attempt.outputs.length === 0) {
    const end = endedAtCost(deps, lease, "done", "No outputs.");
    return settleFailed(deps, lease, taskError("UPSTREAM_ERROR"), end);
  }
  const isRemote = attempt.outputs.some((output) => output.kind === "remote");
  if (isRemote && deps.provider(attempt.provider) === undefined) return waitForProvider(deps, lease);
  try {
    const files: StoredFile[] = [];
    for (const output of attempt.outputs) files.push(await bringHome(deps, lease, output, signal));
    return await complete(deps, lease, files, attempt.usage);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    if (signal.aborted) return SETTLED;
    return finalizeTrouble(deps, lease, error);
  }
}

async function bringHome(
  deps: StepDeps,
  lease: Lease,
  output: AttemptOutput,
  signal: AbortSignal,
): Promise<StoredFile> {
  if (output.kind === "stored") return output.file;
  const adapter = lease.attempt && deps.provider(lease.attempt.provider);
  if (adapter?.fetchOutput === undefined) throw new Error("The provider of this output cannot fetch it.");
  return storeOutput(deps, lease, await adapter.fetchOutput(output.ref, signal));
}

function finalizeTrouble(deps: StepDeps, lease: Lease, error: unknown): Promise<StepResult> {
  const failures = lease.task.failures + 1;
  const detail = error instanceof Error ? error.message : String(error);
  const isFinal = error instanceof ProviderError && error.disposition === "fail";
  if (isFinal || failures >= FINALIZE_TRIES) {
    const end = endedAtCost(deps, lease, "done", detail);
    return settleFailed(deps, lease, taskError("FINALIZATION_FAILED"), end);
  }
  deps.log.warn({ task: lease.task.id, failures, detail }, "outputs could not be stored; trying again");
  return retryLater(deps, lease);
}
