import type { CallbackTerms } from "../callback/callback.ts";
import type { TaskError } from "../errors.ts";
import type {
  AccountId,
  AssetId,
  AttemptId,
  KeyId,
  LaneId,
  LeaseToken,
  ModelId,
  ProviderId,
  TaskId,
} from "../ids.ts";
import type { Json } from "../json.ts";
import type { MediaType, StoredFile } from "../media/asset.ts";
import type { Made } from "../media/made.ts";
import type { Micros } from "../money/money.ts";
import type { Quote } from "../money/pricing.ts";
import type { Parent } from "./lineage.ts";
import type { GenerationRequest, TaskKind } from "./request.ts";
import type { MissingOutput, ResultIssue } from "./result-issue.ts";
import type { ConsideredWay } from "./routing.ts";

/** What the caller sees (docs/api.md 4.1). */
export const TASK_STATUSES = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/**
 * What the scheduler must do next; internal. `queued` submit, or repeat an attempt whose answer was lost · `submitting` find
 * out the outcome of a submission · `running` poll · `finalizing` store outputs · `terminal` nothing, ever.
 */
export const STAGES = ["queued", "submitting", "running", "finalizing", "terminal"] as const;
export type Stage = (typeof STAGES)[number];

/** Every legal move between stages; staying in a stage (a snooze) is legal for all but `terminal`. */
export const LEGAL_MOVES = {
  queued: ["queued", "submitting", "terminal"],
  submitting: ["submitting", "queued", "running", "finalizing", "terminal"],
  running: ["running", "queued", "finalizing", "terminal"],
  finalizing: ["finalizing", "terminal"],
  terminal: [],
} as const satisfies Record<Stage, readonly Stage[]>;

/**
 * Whether a task's upstream is done, and its results could not be fetched yet. It waits for the host of its results, and holds no place
 * of its lane.
 */
export function awaitsResults({
  stage,
  failures,
}: {
  readonly stage: Stage;
  readonly failures: number;
}): boolean {
  return stage === "finalizing" && failures > 0;
}

/** @throws Error if a move is not legal, which is a defect of the caller */
export function assertLegalMove(from: Stage, to: Stage): void {
  const legal: readonly Stage[] = LEGAL_MOVES[from];
  if (!legal.includes(to)) throw new Error(`A task cannot move from ${from} to ${to}.`);
}

export function isTerminal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** One stored output, as the caller's `result` lists them. */
export interface TaskResult {
  readonly assetId: AssetId;
  readonly type: MediaType;
}

/** What an upstream reports about its work. Figures that it does not report are absent. */
export interface Usage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly made?: Made | undefined;
}

/** What a create stores of a task. Times are epoch milliseconds. */
export interface NewTask {
  readonly id: TaskId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Identifier of the creating HTTP request (docs/api.md 6.1). */
  readonly requestId: string;
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly request: GenerationRequest;
  readonly quote: Quote;
  /** Reserved at creation. What is not charged is released at the end. */
  readonly held: Micros;
  /** Scheme and host that the creator used, for URLs in callbacks. */
  readonly origin: string;
  readonly callbackUrl?: string | undefined;
  /** Terms of its callbacks; absent for the default form. */
  readonly callbackTerms?: CallbackTerms | undefined;
  /** The task and result that it was made from; absent for a task without a parent. */
  readonly parent?: Parent | undefined;
  /** Set if the creator waits for the result. Equal requests have equal values (docs/api.md 5.4). */
  readonly syncScope?: string | undefined;
  /** The account of the current attempt, or else of the next one. Concurrency is limited per lane. */
  readonly lane: LaneId;
  /** Position of the lane's route in the model's routes. */
  readonly routeIndex: number;
  /** What the upstream of this route must load before it can make the task, not empty; see `ProviderAdapter.setupOf`. */
  readonly setup?: string | undefined;
  readonly createdAt: number;
}

/** One paid generation. */
export interface Task extends NewTask {
  readonly status: TaskStatus;
  readonly stage: Stage;
  /** 0-100; never decreases; 100 only when `completed`. */
  readonly progress: number;
  /** Attempts begun so far. */
  readonly attempts: number;
  /** Transient failures in a row within the present stage. */
  readonly failures: number;
  readonly cancelRequested: boolean;
  readonly results: readonly TaskResult[];
  /** The requested results that a completed task does not have; absent if it has all. */
  readonly resultIssues?: readonly ResultIssue[] | undefined;
  readonly error?: TaskError | undefined;
  /** Captured at the end; absent until then. */
  readonly charged?: Micros | undefined;
  readonly usage?: Usage | undefined;
  /** First submission. */
  readonly startedAt?: number | undefined;
  /** Counted from the first submission, so that no task fails because it waited in the queue. */
  readonly deadlineAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** When the files of its results were removed because their retention time was over. */
  readonly filesRemovedAt?: number | undefined;
}

/** What a caller sees of a task. Reading it costs a fraction of reading the whole task. */
export type TaskSummary = Pick<
  Task,
  | "id"
  | "accountId"
  | "kind"
  | "model"
  | "status"
  | "progress"
  | "cancelRequested"
  | "results"
  | "resultIssues"
  | "error"
  | "held"
  | "charged"
  | "usage"
  | "createdAt"
  | "startedAt"
  | "completedAt"
  | "filesRemovedAt"
  | "parent"
>;

/** The summary of a task that was just stored, built without reading it. */
export function summaryOfNew(task: NewTask): TaskSummary {
  const { id, accountId, kind, model, held, createdAt, parent } = task;
  const begun = { status: "pending", progress: 0, cancelRequested: false, results: [] } as const;
  return { id, accountId, kind, model, held, createdAt, parent, ...begun };
}

/** The task that was just stored to wait for its turn, built without reading it. */
export function queuedTask(task: NewTask): Task {
  return { ...task, ...summaryOfNew(task), stage: "queued", attempts: 0, failures: 0 };
}

/**
 * `intent` may have been sent · `accepted` the upstream has it · `rejected` the upstream certainly does not have it ·
 * `ambiguous` nobody can say · `done` over. Another attempt may follow one that is `rejected`, or `done` without having made or
 * cost anything.
 */
export const ATTEMPT_STATES = ["intent", "accepted", "rejected", "ambiguous", "done"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** Where an output is: already stored here, to be fetched from the upstream by the upstream's reference, or missing. */
export type AttemptOutput =
  | { readonly kind: "stored"; readonly file: StoredFile }
  | { readonly kind: "remote"; readonly ref: Json }
  | MissingOutput;

/** Measured times of an attempt, in milliseconds. Absent members were not measured. */
export interface AttemptTrace {
  /** Time until the connections of the submission were open. */
  readonly connectMs?: number | undefined;
  /** Time in which its inputs were uploaded and its body was handed to the connection. */
  readonly uploadMs?: number | undefined;
  /** The rest of the submission. */
  readonly submitMs?: number | undefined;
  /** How often its upstream was polled since the last start of the service. */
  readonly polls?: number | undefined;
  /** How many of these polls had no good answer. */
  readonly failedPolls?: number | undefined;
  /** Time in which its outputs were fetched. */
  readonly fetchMs?: number | undefined;
  /** Time in which the outputs were checked and stored. */
  readonly storeMs?: number | undefined;
  /** HTTP status of the latest answer to its submission. */
  readonly httpStatus?: number | undefined;
  /** The upstream's id of the request with that answer. */
  readonly upstreamRequestId?: string | undefined;
  /** The upstream's id of the job. */
  readonly jobId?: string | undefined;
}

/** One submission of a task to one route. */
export interface Attempt {
  readonly id: AttemptId;
  readonly taskId: TaskId;
  /** From 1. */
  readonly sequence: number;
  readonly provider: ProviderId;
  /** The provider's account that has the attempt until its end. */
  readonly lane: LaneId;
  readonly upstreamModel: string;
  readonly state: AttemptState;
  /** What the adapter needs to find the attempt again, even if its settings have changed; see `ProviderAdapter.terms`. */
  readonly terms?: Json | undefined;
  /** The upstream's opaque handle. */
  readonly operation?: Json | undefined;
  readonly outputs?: readonly AttemptOutput[] | undefined;
  readonly usage?: Usage | undefined;
  /** What the attempt costs the operator, if known. */
  readonly costMicros?: Micros | undefined;
  /** What went wrong, in our words, for the operator. */
  readonly detail?: string | undefined;
  /** The ways that were considered for it; absent if there was only one. */
  readonly considered?: readonly ConsideredWay[] | undefined;
  readonly trace?: AttemptTrace | undefined;
  readonly startedAt: number;
  /** When the upstream was known to have it; absent if the upstream answered with the outputs. */
  readonly acceptedAt?: number | undefined;
  /** When its outputs were known, if some had to be fetched after that. */
  readonly madeAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

/**
 * The exclusive right to advance a task, for a limited time. Writes with this token are refused after the task gets another
 * one.
 */
export interface Lease {
  readonly token: LeaseToken;
  readonly task: Task;
  /** The latest attempt, if any was begun. */
  readonly attempt?: Attempt | undefined;
}
