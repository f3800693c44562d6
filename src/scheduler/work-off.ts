import type { StagedFile } from "../domain/ports/asset-store.ts";
import { RESUME_DELAY_MS } from "../domain/task/backoff.ts";
import type { Lease } from "../domain/task/task.ts";
import { snoozed } from "../domain/task/transition.ts";
import { Step, type StepDeps, type StepResult } from "./step.ts";
import { type Beginning, begun } from "./steps/begin.ts";
import { dispatch } from "./steps/dispatch.ts";
import { finalize } from "./steps/finalize.ts";
import { poll } from "./steps/poll.ts";
import { recover } from "./steps/recover.ts";
import { submit } from "./steps/submit.ts";

export interface Run {
  readonly controller: AbortController;
  readonly leaseMs: number;
  /** How its claim has begun the task, if it has. */
  readonly beginning?: Beginning | undefined;
  /** Called before each transition is committed. */
  readonly onCommit?: (() => void) | undefined;
}

/** The next step for each stage. */
const STEPS = { queued: dispatch, submitting: recover, running: poll, finalizing: finalize } as const;

/**
 * Advances one leased task as far as possible now, and keeps its lease alive. Never throws.
 *
 * @returns whether the task has ended
 */
export async function workOff(deps: StepDeps, lease: Lease, run: Run): Promise<boolean> {
  const stopRenewing = keepLease(deps, lease, run);
  const { signal } = run.controller;
  const held: StagedFile[] = [];
  let { beginning } = run;
  let current = lease;
  try {
    if (beginning !== undefined) current = begun(deps, lease, beginning);
    for (;;) {
      const step = new Step(deps, current, signal, held, run.onCommit);
      const work = takeStep(step, beginning);
      beginning = undefined;
      const result = await (deps.within?.(step.task, work) ?? work());
      if (result.kind === "settled") {
        if (result.isOver) return true;
        break;
      }
      current = result.lease;
    }
    if (signal.aborted) await giveBack(deps, current);
  } catch (error) {
    // The lease expires, and another worker continues from the committed state.
    deps.log.error({ err: error as Error, task: lease.task.id, stage: current.task.stage }, "step failed");
  } finally {
    stopRenewing();
    // By now the store names all files of the task.
    for (const file of held) await file.release(true);
  }
  return false;
}

/** @param beginning how the task was just begun, if it was; then nothing has been sent yet */
function takeStep(step: Step, beginning: Beginning | undefined): () => Promise<StepResult> {
  if (beginning === undefined) return () => advance(step);
  return () => submit(step, { adapter: beginning.adapter, inputs: [], isResend: false });
}

function advance(step: Step): Promise<StepResult> {
  const { id, stage } = step.task;
  if (stage === "terminal") throw new Error(`Task ${id} was claimed after its end`);
  return STEPS[stage](step);
}

/** Releases the lease after an interrupted step. Nothing is uncertain in these stages, so another process may continue soon. */
async function giveBack(deps: StepDeps, lease: Lease): Promise<void> {
  const { task } = lease;
  if (task.stage === "submitting" || task.stage === "terminal") return;
  const now = deps.clock.now();
  const dueAt = task.stage === "queued" ? now : now + RESUME_DELAY_MS;
  // A poll without an answer does not count as answered, so a cancel must not repeat it at once.
  const failures = task.stage === "running" ? Math.max(task.failures, 1) : task.failures;
  await deps.tasks.apply(lease, snoozed(task, now, { dueAt, failures }));
}

/** Renews the lease after every third of its length. Interrupts the work when the lease is lost. */
function keepLease(deps: StepDeps, lease: Lease, run: Pick<Run, "controller" | "leaseMs">): () => void {
  let stopped = false;
  let cancel = () => {};
  const arm = () => {
    cancel = deps.clock.after(run.leaseMs / 3, () => void renew());
  };
  const renew = async () => {
    const outcome = await deps.tasks.renew(lease, deps.clock.now() + run.leaseMs).catch((error: unknown) => {
      deps.log.error({ err: error as Error, task: lease.task.id }, "lease could not be renewed");
      return "renewed" as const;
    });
    if (stopped) return;
    if (outcome === "lease_lost") run.controller.abort(new Error("The lease was lost."));
    else arm();
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}
