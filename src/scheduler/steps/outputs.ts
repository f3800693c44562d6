import { taskError } from "../../domain/errors.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { StoredFile } from "../../domain/media/asset.ts";
import { costOf } from "../../domain/money/upstream-cost.ts";
import { MediaError } from "../../domain/ports/asset-store.ts";
import type { Output } from "../../domain/ports/provider.ts";
import type { AttemptOutput, Usage } from "../../domain/task/task.ts";
import { outputsReady, succeeded } from "../../domain/task/transition.ts";
import type { Step, StepResult } from "../step.ts";

/**
 * Commits the outputs of an upstream before anything else is done with them. Bytes that came with the answer are stored first,
 * because they cannot be requested again. If every output came that way, the task is complete.
 */
export async function recordOutputs(
  step: Step,
  answer: { readonly outputs: readonly Output[]; readonly usage?: Usage | undefined },
): Promise<StepResult> {
  const { task } = step;
  const { usage } = answer;
  const attempt = attemptOf(step);
  const outputs: AttemptOutput[] = [];
  try {
    // Outputs beyond `n` are dropped.
    for (const output of answer.outputs.slice(0, task.request.n)) {
      outputs.push(
        output.kind === "remote"
          ? { kind: "remote", ref: output.ref }
          : { kind: "stored", file: await storeOutput(step, output.bytes) },
      );
    }
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return step.failAtCost(taskError("FINALIZATION_FAILED"), `An output ${error.message}.`);
  }
  const files = outputs.flatMap((output) => (output.kind === "stored" ? [output.file] : []));
  if (files.length > 0 && files.length === outputs.length) return complete(step, files, usage);
  return step.continue(outputsReady(step.deps.clock.now(), attempt.id, outputs, usage), {
    task: { ...task, stage: "finalizing", failures: 0 },
    attempt: { ...attempt, state: "accepted", outputs, usage },
  });
}

/** Completes the task with its stored outputs. */
export async function complete(
  step: Step,
  files: readonly StoredFile[],
  usage: Usage | undefined,
): Promise<StepResult> {
  const { deps, task } = step;
  const attempt = attemptOf(step);
  const at = deps.clock.now();
  const assets = files.map((file, index) => step.asset(file, { role: "output", index, createdAt: at }));
  const costMicros = costOf(deps.catalog.find(task.model), task, attempt, { outputs: assets, usage });
  const callbackId = deps.ids.create("cb");
  return step.settle(succeeded(task, at, attempt.id, assets, usage, callbackId, costMicros));
}

function attemptOf({ task, attempt }: Step) {
  if (attempt === undefined) throw new Error(`Task ${task.id} has outputs but no attempt`);
  return attempt;
}

/** Stores one output after the same strict checks as for an input. */
export function storeOutput({ deps, task }: Step, source: Uint8Array | AsyncIterable<Uint8Array>) {
  const { kind } = task;
  return deps.assets.put(source, { accept: [kind], maxBytes: MAX_OUTPUT_BYTES[kind], sanitize: false });
}
