import type { Callback, CallbackEvent } from "../callback/callback.ts";
import { type GroupEnd, groupEndOf } from "../callback/group-callback.ts";
import { newCallback } from "../callback/new-callback.ts";
import type { TaskError } from "../errors.ts";
import { type AttemptId, type CallbackId, callbackIdOf, type LaneId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { Asset } from "../media/asset.ts";
import { type LedgerEntry, settlementEntries } from "../money/ledger.ts";
import { type Micros, minMicros, ZERO } from "../money/money.ts";
import { type ChargeLine, chargeFor } from "../money/pricing.ts";
import { LONGEST_DELAY_MS } from "./backoff.ts";
import type { GenerationRequest } from "./request.ts";
import type { ResultIssue } from "./result-issue.ts";
import type {
  Attempt,
  AttemptOutput,
  AttemptTrace,
  NewTask,
  Stage,
  Task,
  TaskResult,
  TaskStatus,
  Usage,
} from "./task.ts";

/** What one transition writes to the task's latest attempt. */
export interface AttemptChange
  extends Pick<
    Attempt,
    "id" | "state" | "operation" | "outputs" | "usage" | "detail" | "costMicros" | "trace"
  > {}

/** How a task ended. */
export interface Ending {
  readonly status: Extract<TaskStatus, "completed" | "failed" | "cancelled">;
  readonly completedAt: number;
  readonly charged: Micros;
  /** The lines that `charged` is the sum of; absent for a task that cost nothing. */
  readonly chargeLines?: readonly ChargeLine[] | undefined;
  readonly results: readonly TaskResult[];
  readonly resultIssues?: readonly ResultIssue[] | undefined;
  readonly error?: TaskError | undefined;
  readonly usage?: Usage | undefined;
}

/**
 * One atomic change of a leased task, as a value. A store applies all transitions alike: it checks lease and stage, then writes
 * the fields that are present. Absent fields stay as they are. Only the constructors below make transitions.
 */
export interface Transition {
  readonly name: string;
  readonly from: readonly Stage[];
  readonly to: Stage;
  readonly at: number;
  /**
   * When the task is due again. Setting it releases the lease. At most `LONGEST_DELAY_MS` after `at`. Absent: the lease is
   * kept, or the task is terminal.
   */
  readonly dueAt?: number | undefined;
  /** Raises the stored progress; never lowers it. */
  readonly progress?: number | undefined;
  readonly failures?: number | undefined;
  readonly lane?: LaneId | undefined;
  readonly routeIndex?: number | undefined;
  /** Written together with `lane`. If it is absent and `lane` is present, the task has no setup there. */
  readonly setup?: string | undefined;
  readonly request?: GenerationRequest | undefined;
  readonly attempt?: AttemptChange | undefined;
  readonly assets: readonly Asset[];
  readonly ledger: readonly LedgerEntry[];
  readonly ending?: Ending | undefined;
  readonly callback?: Callback | undefined;
  /** The callback to write in addition if this ends the last task of a group. */
  readonly groupEnd?: GroupEnd | undefined;
}

/** Whether a transition ends its attempt. One without an answer whose cost is booked is over, because another one follows. */
export function endsAttempt({ to, attempt }: Pick<Transition, "to" | "attempt">): boolean {
  if (attempt === undefined) return false;
  const { state, costMicros } = attempt;
  const isReplaced = state === "ambiguous" && costMicros !== undefined;
  return to === "terminal" || state === "rejected" || state === "done" || isReplaced;
}

type Change = Omit<Partial<Transition>, "name" | "from" | "to" | "at">;

function move(name: string, from: readonly Stage[], to: Stage, at: number, change: Change): Transition {
  // Delays by a clock that is never set, and delays from rates, are not whole milliseconds; times are.
  const dueAt =
    change.dueAt === undefined ? undefined : Math.ceil(Math.min(change.dueAt, at + LONGEST_DELAY_MS));
  return { assets: [], ledger: [], name, from, to, at, ...change, dueAt };
}

/** The lane in which a queued task waits. */
type Place = Pick<Task, "lane" | "routeIndex" | "setup">;

/** The same transition, which also writes what has been measured of its attempt so far. */
export function traced(transition: Transition, trace: AttemptTrace): Transition {
  const { attempt } = transition;
  return attempt === undefined ? transition : { ...transition, attempt: { ...attempt, trace } };
}

/** The task's remote inputs were fetched and stored; the request now names assets. The task is due at once. */
export function inputsReady(at: number, request: GenerationRequest, assets: readonly Asset[]): Transition {
  return move("inputsReady", ["queued"], "queued", at, { request, assets, dueAt: at, failures: 0 });
}

/** The upstream accepted the job and returned a handle to poll. */
export function submitted(at: number, id: AttemptId, operation: Json, dueAt: number): Transition {
  const attempt = { id, state: "accepted", operation } as const;
  return move("submitted", ["submitting"], "running", at, { dueAt, failures: 0, attempt });
}

/**
 * Due again later, in the same stage. `failures` counts transient failures in a row (0 after any good answer). No attempt is
 * used up.
 *
 * @param newCallbackId for a task whose address receives progress, if progress has increased
 */
export function snoozed(
  task: Task,
  at: number,
  { dueAt, failures, progress }: { dueAt: number; failures: number; progress?: number | undefined },
  newCallbackId?: () => CallbackId,
): Transition {
  const { stage } = task;
  const shown = progress === undefined ? undefined : Math.max(0, Math.min(99, Math.floor(progress)));
  const isNews = shown !== undefined && shown > task.progress && tellsOf(task, "progressed");
  const callback =
    isNews && newCallbackId !== undefined ? callbackFor(task, "progressed", at, newCallbackId()) : undefined;
  return move("snoozed", [stage], stage, at, { dueAt, failures, progress: shown, callback });
}

/**
 * Back to the queue, for this route or another. Either the upstream certainly did not accept the attempt, or (without
 * `rejected`) no attempt was made because the route is switched off.
 */
export function requeued(
  at: number,
  again: { dueAt: number; failures: number } & Place,
  rejected?: { attempt: AttemptId; detail: string },
): Transition {
  const attempt = rejected && { id: rejected.attempt, state: "rejected" as const, detail: rejected.detail };
  return move("requeued", ["queued", "submitting", "running"], "queued", at, { ...again, attempt });
}

/** On to another route: the upstream accepted the attempt, and it failed without a charge. */
export function passedOn(
  at: number,
  to: Place,
  { id, detail }: { id: AttemptId; detail: string },
): Transition {
  const attempt = { id, state: "done", detail } as const;
  return move("passedOn", ["running"], "queued", at, { ...to, dueAt: at, failures: 0, attempt });
}

/**
 * The answer to a submission was lost or cannot be used. If the upstream can look the submission up, the task stays
 * `submitting`. Otherwise it returns to the queue with its open attempt, and does not occupy a place of the lane while it
 * waits.
 */
export function unanswered(
  at: number,
  to: "submitting" | "queued",
  { dueAt, failures }: { dueAt: number; failures: number },
  { id, detail, costMicros }: Pick<AttemptChange, "id" | "detail" | "costMicros">,
): Transition {
  const attempt = { id, state: "ambiguous", detail, costMicros } as const;
  return move("unanswered", ["submitting"], to, at, { dueAt, failures, attempt });
}

/** The open attempt of a queued task is about to be sent again. Keeps the lease. */
export function resent(at: number, id: AttemptId): Transition {
  return move("resent", ["queued"], "submitting", at, { attempt: { id, state: "ambiguous" } });
}

/**
 * The upstream is done, and its outputs can be fetched. Keeps the lease: the same worker goes on to store them.
 *
 * @param report what the upstream reports about its work
 */
export function outputsReady(
  at: number,
  id: AttemptId,
  outputs: readonly AttemptOutput[],
  { usage, costMicros }: Pick<Attempt, "usage" | "costMicros"> = {},
): Transition {
  const attempt = { id, state: "accepted", outputs, usage, costMicros } as const;
  return move("outputsReady", ["submitting", "running"], "finalizing", at, { failures: 0, attempt });
}

/** Some outputs could not be retrieved yet. The retrieved ones are kept, and the rest is due again later. */
export function outputsKept(
  at: number,
  id: AttemptId,
  outputs: readonly AttemptOutput[],
  again: { dueAt: number; failures: number },
): Transition {
  const attempt = { id, state: "accepted", outputs } as const;
  return move("outputsKept", ["finalizing"], "finalizing", at, { ...again, attempt });
}

/**
 * The outputs are stored. The task is charged for what was delivered, and the rest of the hold is released.
 *
 * @param more.costMicros what the attempt cost the operator, if known
 * @param more.issues the results that are missing
 * @param more.lost how many of them were made but could not be stored
 */
export function succeeded(
  task: Task,
  at: number,
  id: AttemptId,
  assets: readonly Asset[],
  usage: Usage | undefined,
  callbackId: CallbackId,
  more: {
    costMicros?: Micros | undefined;
    issues?: readonly ResultIssue[] | undefined;
    lost?: number | undefined;
  } = {},
): Transition {
  const { costMicros, issues = [], lost } = more;
  const resultIssues = issues.length === 0 ? undefined : issues;
  const { lines, amount } = chargeFor(task.quote, { outputs: assets, usage, lost });
  // Never charges more than was held.
  const charged = minMicros(amount, task.held);
  const results = assets.map((asset) => ({ assetId: asset.id, type: asset.type }));
  return move("succeeded", ["submitting", "running", "finalizing"], "terminal", at, {
    progress: 100,
    attempt: { id, state: "done", usage, costMicros },
    assets,
    ledger: settlementEntries(task.id, task.held, charged, "task completed"),
    ending: {
      status: "completed",
      completedAt: at,
      charged,
      chargeLines: lines,
      results,
      resultIssues,
      usage,
    },
    callback: callbackFor(task, "completed", at, callbackId),
    groupEnd: groupEndOf(task, at),
  });
}

const LIVE: readonly Stage[] = ["queued", "submitting", "running", "finalizing"];

/** The task ends without a result. The whole hold is released. */
export function failed(
  task: Task,
  at: number,
  error: TaskError,
  callbackId: CallbackId,
  attempt?: AttemptChange,
): Transition {
  return move("failed", LIVE, "terminal", at, {
    attempt,
    ledger: settlementEntries(task.id, task.held, ZERO, `task failed: ${error.code}`),
    ending: { status: "failed", completedAt: at, charged: ZERO, results: [], error },
    callback: callbackFor(task, "failed", at, callbackId),
    groupEnd: groupEndOf(task, at),
  });
}

/** The task ends because its owner or an operator cancelled it. The whole hold is released. No callback of the default form is sent (docs/api.md 4.8). */
export function cancelled(task: Task, at: number, attempt?: AttemptChange): Transition {
  return move("cancelled", LIVE, "terminal", at, {
    attempt,
    ledger: settlementEntries(task.id, task.held, ZERO, "task cancelled"),
    ending: { status: "cancelled", completedAt: at, charged: ZERO, results: [] },
    callback: callbackFor(task, "cancelled", at, callbackIdOf(task.id)),
    groupEnd: groupEndOf(task, at),
  });
}

/**
 * The callback for the beginning of a task's first attempt; undefined if its address does not receive this event.
 * @param id the attempt's id
 */
export function startedCallback(task: NewTask, at: number, id: AttemptId): Callback | undefined {
  return callbackFor(task, "started", at, callbackIdOf(id));
}

/** Whether a task has an address that receives an event. */
export function tellsOf({ callbackUrl, callbackTerms }: NewTask, event: CallbackEvent): boolean {
  if (callbackUrl === undefined) return false;
  return callbackTerms?.events.includes(event) ?? (event === "completed" || event === "failed");
}

function callbackFor(task: NewTask, event: CallbackEvent, at: number, id: CallbackId): Callback | undefined {
  const { callbackUrl: url, callbackTerms: terms } = task;
  if (url === undefined || !tellsOf(task, event)) return undefined;
  const ofForm = terms && { form: terms.form, mostAttempts: terms.attempts };
  return newCallback(task, { id, url, event, ...ofForm }, at);
}
