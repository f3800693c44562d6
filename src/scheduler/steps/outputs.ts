import { taskError } from "../../domain/errors.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { Asset, StoredFile } from "../../domain/media/asset.ts";
import { costOf } from "../../domain/money/upstream-cost.ts";
import { MediaError } from "../../domain/ports/asset-store.ts";
import type { Output } from "../../domain/ports/provider.ts";
import type { AttemptOutput, Lease, Usage } from "../../domain/task/task.ts";
import { outputsReady, succeeded } from "../../domain/task/transition.ts";
import {
  commit,
  endedAtCost,
  SETTLED,
  type StepDeps,
  type StepResult,
  settle,
  settleFailed,
} from "../context.ts";

/**
 * Commits the outputs of an upstream before anything else is done with them. Bytes that came with the answer are stored first,
 * because they cannot be requested again. If every output came that way, the task is complete.
 */
export async function recordOutputs(
  deps: StepDeps,
  lease: Lease,
  answer: { readonly outputs: readonly Output[]; readonly usage?: Usage | undefined },
): Promise<StepResult> {
  const { task, attempt } = lease;
  if (attempt === undefined) throw new Error(`Task ${task.id} has outputs but no attempt`);
  const outputs: AttemptOutput[] = [];
  try {
    // Outputs beyond `n` are dropped.
    for (const output of answer.outputs.slice(0, task.request.n)) {
      outputs.push(
        output.kind === "remote"
          ? { kind: "remote", ref: output.ref }
          : { kind: "stored", file: await storeOutput(deps, lease, output.bytes) },
      );
    }
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    const detail = `An output ${error.message}.`;
    const end = endedAtCost(deps, lease, "done", detail);
    return settleFailed(deps, lease, taskError("FINALIZATION_FAILED"), end);
  }
  const files = outputs.flatMap((output) => (output.kind === "stored" ? [output.file] : []));
  if (files.length > 0 && files.length === outputs.length) return complete(deps, lease, files, answer.usage);
  const transition = outputsReady(deps.clock.now(), attempt.id, outputs, answer.usage);
  if ((await commit(deps, lease, transition)) === "lease_lost") return SETTLED;
  return {
    kind: "continue",
    lease: {
      ...lease,
      task: { ...task, stage: "finalizing", failures: 0 },
      attempt: { ...attempt, state: "accepted", outputs, usage: answer.usage },
    },
  };
}

/** Completes the task with its stored outputs. */
export function complete(
  deps: StepDeps,
  lease: Lease,
  files: readonly StoredFile[],
  usage: Usage | undefined,
): Promise<StepResult> {
  const { task, attempt } = lease;
  if (attempt === undefined) throw new Error(`Task ${task.id} has outputs but no attempt`);
  const at = deps.clock.now();
  const assets = files.map(
    (file, index): Asset => ({
      ...file,
      id: deps.ids.create("asset"),
      accountId: task.accountId,
      taskId: task.id,
      role: "output",
      index,
      createdAt: at,
    }),
  );
  const costMicros = costOf(deps.catalog.find(task.model), task, attempt, { outputs: assets, usage });
  const callbackId = deps.ids.create("cb");
  return settle(deps, lease, succeeded(task, at, attempt.id, assets, usage, callbackId, costMicros));
}

/** Stores one output after the same strict checks as for an input. */
export function storeOutput(deps: StepDeps, lease: Lease, source: Uint8Array | AsyncIterable<Uint8Array>) {
  const { kind } = lease.task;
  return deps.assets.put(source, { accept: [kind], maxBytes: MAX_OUTPUT_BYTES[kind], sanitize: false });
}
