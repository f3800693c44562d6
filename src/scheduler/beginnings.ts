import type { TaskId } from "../domain/ids.ts";
import type { Claimed, ClaimQuery } from "../domain/ports/claims.ts";
import { isOut } from "../domain/task/routing.ts";
import type { Lease } from "../domain/task/task.ts";
import type { StepDeps } from "./step.ts";
import { type Beginning, enter, leave } from "./steps/begin.ts";

/**
 * Claims tasks. Begins those first attempts in the same commit that need nothing but a decision: no input to look for, no earlier
 * attempt, and a way that is open where the task waits. Every other task is begun by its step.
 */
export async function claimAndBegin(
  deps: StepDeps,
  query: Omit<ClaimQuery, "intentFor">,
): Promise<Claimed & { readonly beginnings: ReadonlyMap<TaskId, Beginning> }> {
  /** The claim may be undone and run again; what was entered stays so. */
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

/** What was entered and begun. The right to begin the others is given back. */
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

/** @returns undefined for a task that its step has to look at; also where something fails, which its step will tell of */
function beginningOf(deps: StepDeps, { task }: Lease): Beginning | undefined {
  const { request, attempts, cancelRequested, deadlineAt } = task;
  if (attempts > 0 || cancelRequested || deadlineAt !== undefined || request.inputs.length > 0)
    return undefined;
  try {
    const model = deps.catalog.find(task.model);
    // Whether a dearer way is open is counted when it is chosen.
    if (model === undefined || model.overflow !== undefined) return undefined;
    const looking = { attempts: [], current: task };
    const way = deps.routing.choose(model, request, looking);
    if (way === undefined || isOut(way) || way.waitMs > 0) return undefined;
    const adapter = deps.provider(way.lane);
    if (adapter === undefined || way.lane !== task.lane || way.index !== task.routeIndex) return undefined;
    const considered = deps.routing.verdicts(model, request, looking, way);
    const { upstreamModel } = way.route;
    const at = deps.clock.now();
    const entered = enter(deps, { adapter, upstreamModel, considered, at, deadlineMs: model.deadlineMs });
    return typeof entered === "number" ? undefined : entered;
  } catch {
    return undefined;
  }
}
