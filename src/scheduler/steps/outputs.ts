import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { Output } from "../../domain/ports/provider.ts";
import type { AttemptOutput, Lease, Usage } from "../../domain/task.ts";
import { outputsReady } from "../../domain/transition.ts";
import { commit, SETTLED, type StepDeps, type StepResult } from "../context.ts";

/**
 * Commits what an upstream made before anything else is done with it. Bytes that came in the answer itself are stored first,
 * since nobody could be asked for them again.
 */
export async function recordOutputs(
  deps: StepDeps,
  lease: Lease,
  answer: { readonly outputs: readonly Output[]; readonly usage?: Usage | undefined },
): Promise<StepResult> {
  const { task, attempt } = lease;
  if (attempt === undefined) throw new Error(`Task ${task.id} has outputs but no attempt`);
  const outputs: AttemptOutput[] = [];
  for (const output of answer.outputs) {
    outputs.push(
      output.kind === "remote"
        ? { kind: "remote", ref: output.ref }
        : { kind: "stored", file: await storeOutput(deps, lease, output.bytes) },
    );
  }
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

/** Stores one output of the task's kind, checked as strictly as an input. */
export function storeOutput(deps: StepDeps, lease: Lease, source: Uint8Array | AsyncIterable<Uint8Array>) {
  const { kind } = lease.task;
  return deps.assets.put(source, { accept: [kind], maxBytes: MAX_OUTPUT_BYTES[kind], sanitize: false });
}
