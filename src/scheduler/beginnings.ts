import type { TaskId } from "../domain/ids.ts";
import type { Claimed, ClaimQuery } from "../domain/ports/claims.ts";
import { isOut } from "../domain/task/routing.ts";
import type { Lease } from "../domain/task/task.ts";
import type { StepDeps } from "./step.ts";
import { type Beginning, enter, leave } from "./steps/begin.ts";

/**
 * Claims tasks. In the same commit it begins first attempts that need only a decision: no input to find, no earlier attempt,
 * and an open way where the task waits. Every other task is begun by its step.
 */
export async function claimAndBegin(
  deps: StepDeps,
  query: Omit<ClaimQuery, "intentFor">,
): Promise<Claimed & { readonly beginnings: ReadonlyMap<TaskId, Beginning> }> {
  /** The claim may be rolled back and run again; entered routes stay entered. */
  const entered = new Map<TaskId, Beginning | undefined>();
  const intentFor = (lease: Lease) =>
    entered.getOrInsertComputed(lease.task.id, () => beginningOf(deps, lease))?.intent;
  try {
    const claimed = await deps.tasks.claim({ ...query, intentFor });
    return { ...claimed, beginnings: begunOf(deps, entered, claimed.begun) };
  } catch (error) {
    begunOf(deps, entered, undefined);
    throw error;
  }
}

/** The tasks that were entered and begun. The right to begin the others is given back. */
function begunOf(
  deps: StepDeps,
  entered: ReadonlyMap<TaskId, Beginning | undefined>,
  begun: Claimed["begun"],
): ReadonlyMap<TaskId, Beginning> {
  const beginnings = new Map<TaskId, Beginning>();
  for (const [id, beginning] of entered) {
    if (beginning === undefined) continue;
    if (begun?.has(id) === true) beginnings.set(id, beginning);
    else leave(deps, beginning);
  }
  return beginnings;
}

/** Takes the right to begin a first attempt. @returns undefined for a task that its step must handle, and if something fails, because the step will report the failure */
export function beginningOf(deps: StepDeps, { task }: Lease): Beginning | undefined {
  const { request, attempts, cancelRequested, deadlineAt } = task;
  if (attempts > 0 || cancelRequested || deadlineAt !== undefined || request.inputs.length > 0)
    return undefined;
  try {
    const model = deps.catalog.find(task.model);
    // Choosing a more expensive way counts against its budget, so only a step chooses it.
    if (model === undefined || model.overflow !== undefined) return undefined;
    const looking = { attempts: [], current: task };
    const way = deps.routing.choose(model, request, looking);
    if (way === undefined || isOut(way) || way.waitMs > 0) return undefined;
    const adapter = deps.provider(way.lane);
    if (adapter === undefined || way.lane !== task.lane || way.index !== task.routeIndex) return undefined;
    const considered = deps.routing.verdicts(model, request, looking, way);
    const { upstreamModel } = way.route;
    const at = deps.clock.now();
    const entered = enter(deps, {
      task,
      adapter,
      upstreamModel,
      considered,
      at,
      deadlineMs: model.deadlineMs,
    });
    return typeof entered === "number" ? undefined : entered;
  } catch {
    return undefined;
  }
}
