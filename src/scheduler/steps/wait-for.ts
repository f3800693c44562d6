import type { Model } from "../../domain/model/model.ts";
import type { ChosenRoute } from "../../domain/task/routing.ts";
import type { Step, StepResult } from "../step.ts";

/** How often a waiting task checks whether another way has opened. */
const LOOKS_EVERY_MS = 30_000;
/** Spreads tasks that wait until the same time. */
const SPREAD_MS = 1_000;
/** Others of the model are not put off for a shorter time: by then they have hardly had their turn. */
const WORTH_MS = 1_000;

/** Waits for the way that opens first. The task has not failed. */
export async function waitFor(step: Step, model: Model, way: ChosenRoute): Promise<StepResult> {
  const { failures } = step.task;
  const [result] = await Promise.all([
    step.requeue({ failures, delayMs: againMs(step, way), to: way }),
    postponeOthers(step, model),
  ]);
  return result;
}

/** How long until the task looks again: at its turn, where the model of the way gets too many requests and the turn comes soon. */
function againMs(step: Step, { lane, route, waitMs }: ChosenRoute): number {
  const way = { lane, upstreamModel: route.upstreamModel };
  const turnMs = step.deps.pace.turnMs(way, step.task.id);
  const isItsTurn = turnMs >= waitMs && turnMs <= LOOKS_EVERY_MS;
  return isItsTurn ? turnMs : delayMs(step, Math.max(waitMs, turnMs));
}

function delayMs({ deps }: Step, waitMs: number): number {
  return Math.min(waitMs, LOOKS_EVERY_MS) + Math.round(deps.random() * SPREAD_MS);
}

/**
 * Where every way of the model is closed to the caller, the caller's next tasks of it wait, too. If each were claimed to learn that, ten
 * thousand of them would keep the caller's other models from an account with a rate, which has few claimed at a time.
 */
async function postponeOthers(step: Step, model: Model): Promise<void> {
  const { deps, task } = step;
  const { crowds, routing, tasks, clock } = deps;
  await crowds.alone(`${task.lane} ${task.accountId} ${task.model}`, async () => {
    const closedMs = routing.closedMs(model, task.accountId);
    if (closedMs >= WORTH_MS) await tasks.postpone(task, Math.ceil(clock.now() + delayMs(step, closedMs)));
  });
}
