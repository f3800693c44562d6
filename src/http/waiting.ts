import type { TaskId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TaskSummary } from "../domain/task/task.ts";
import type { JoinedTask } from "../service/join-task.ts";
import { requireModel } from "../service/read-model.ts";
import { unread } from "../service/sync-errors.ts";
import type { KeyedExchange, LateAnswerDeps } from "./exchange.ts";
import type { Reply } from "./reply.ts";
import { type Standing, whileAllowed } from "./standing.ts";
import type { StayKind } from "./stays.ts";

/* What all calls that wait for their images share, whichever API they use. */

export interface WaitingDeps extends LateAnswerDeps {
  readonly clock: Pick<Clock, "after">;
  /** The server's settings. */
  readonly sync: { readonly waitMs: number };
}

/**
 * Accepts a call if there is a place for it; the call keeps the place until `leave`. Its files are freed as soon as it is
 * accepted, because the wait is long and files that no task uses stay open.
 */
export async function acceptStaying<T>(
  exchange: Pick<KeyedExchange, "stay">,
  kind: StayKind,
  { release }: { release(): Promise<void> },
  accept: () => Promise<T>,
): Promise<{ readonly leave: () => void; readonly accepted: T }> {
  let leave = () => {};
  const acceptAndRelease = async () => {
    try {
      leave = exchange.stay(kind);
      return await accept();
    } finally {
      await release();
    }
  };
  try {
    return { accepted: await acceptAndRelease(), leave: () => leave() };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Whether a caller may still be answered with what this model has made. */
export function standingFor({ standing }: KeyedExchange, { model }: Pick<JoinedTask, "model">): Standing {
  return standing.needing((principal) => requireModel(principal, model));
}

/**
 * Waits for a call's task within the time for the answer.
 * @throws AppError like `JoinedTask.finish`; the refusal if the caller may no longer be answered
 */
export function finishInTime(
  deps: WaitingDeps,
  exchange: KeyedExchange,
  call: Pick<JoinedTask, "finish">,
  { waitMs, standing }: { readonly waitMs: number; readonly standing: Standing },
): Promise<TaskSummary> {
  const { request } = exchange;
  deps.keepOpen(request);
  return whileAllowed(standing, (refused) =>
    call.finish({
      waitMs: Math.min(waitMs, untilEdgeMs(deps, exchange)),
      gone: AbortSignal.any([request.signal, refused]),
      stopping: deps.stopping,
    }),
  );
}

/** A call that may count as left, and its task. */
type Leaving = Pick<JoinedTask, "leave"> & { readonly taskId?: TaskId | undefined };

/**
 * Makes the answer of a call whose task is completed. If that fails, its caller counts as left: clients send what ended with 500 or 503
 * again by themselves, and then join the task.
 */
export async function orLeave<T>({ leave, taskId }: Leaving, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    leave();
    throw taskId === undefined ? error : unread(taskId, error);
  }
}

/** The same for an answer that its address may cut: from that moment on, the caller counts as left, whatever becomes of the answer. */
export async function answerInTime(
  deps: WaitingDeps,
  exchange: KeyedExchange,
  call: Leaving,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const leftMs = untilEdgeMs(deps, exchange);
  const stopTimer = leftMs === Number.POSITIVE_INFINITY ? () => {} : deps.clock.after(leftMs, call.leave);
  try {
    return await orLeave(call, answer);
  } finally {
    stopTimer();
  }
}

/** The shortest of the server's wait, the key's and the caller's preference, and the header that reports the last. */
export function waitOf({ sync }: Pick<WaitingDeps, "sync">, { request, principal }: KeyedExchange) {
  const headers: Record<string, string> = {};
  let { waitMs } = sync;
  const { syncWaitSec } = principal.policy;
  if (syncWaitSec !== undefined) waitMs = Math.min(waitMs, syncWaitSec * 1000);
  const preferred = /(?:^|[,;\s])wait=(\d{1,6})(?=$|[,;\s])/i.exec(request.headers.get("prefer") ?? "")?.[1];
  if (preferred !== undefined && Number(preferred) * 1000 < waitMs) {
    waitMs = Number(preferred) * 1000;
    headers["Preference-Applied"] = `wait=${preferred}`;
  }
  return { waitMs, headers };
}

/** How long until the default address cuts the request; the answer must come before. */
function untilEdgeMs({ elapsed }: Pick<WaitingDeps, "elapsed">, { edgeDeadline }: KeyedExchange): number {
  const deadline = edgeDeadline();
  return deadline === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadline - elapsed());
}
