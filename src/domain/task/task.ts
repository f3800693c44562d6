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
 * What the scheduler must do next; internal.
 * `queued` submit, or send an attempt again whose answer was lost · `submitting` find out what became of a submission ·
 * `running` poll · `finalizing` store outputs · `terminal` nothing, ever.
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

/** @throws Error for a move that is not legal, which is a defect of the caller */
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

/** What an upstream reported about its work. Figures that it does not report are absent. */
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
  /** Reserved at creation; what is not charged is released at the end. */
  readonly held: Micros;
  /** Scheme and host the creator used, for URLs in callbacks. */
  readonly origin: string;
  readonly callbackUrl?: string | undefined;
  /** Of its callbacks; absent for the default. */
  readonly callbackTerms?: CallbackTerms | undefined;
  /** What it was made from; absent for one that was asked for by itself. */
  readonly parent?: Parent | undefined;
  /** Set when the creator waits for the result: equal for requests that are the same (docs/api.md 5.4). */
  readonly syncScope?: string | undefined;
  /** The account of the next attempt, or of the current one. Concurrency is limited per lane. */
  readonly lane: LaneId;
  /** Position of the lane's route in the model's routes. */
  readonly routeIndex: number;
  /** What that route's upstream has to load before it can make the task, not empty; see `ProviderAdapter.setupOf`. */
  readonly setup?: string | undefined;
  readonly createdAt: number;
}

/** One paid generation. */
export interface Task extends NewTask {
  readonly status: TaskStatus;
  readonly stage: Stage;
  /** 0-100; never goes down, 100 only with `completed`. */
  readonly progress: number;
  /** Attempts begun so far. */
  readonly attempts: number;
  /** Transient failures in a row within the present stage. */
  readonly failures: number;
  readonly cancelRequested: boolean;
  readonly results: readonly TaskResult[];
  /** The results that a completed task was asked for and does not have; absent when it has all. */
  readonly resultIssues?: readonly ResultIssue[] | undefined;
  readonly error?: TaskError | undefined;
  /** Captured at the end; absent until then. */
  readonly charged?: Micros | undefined;
  readonly usage?: Usage | undefined;
  /** First submission. */
  readonly startedAt?: number | undefined;
  /** Counted from the first submission, so that waiting in the queue fails nothing. */
  readonly deadlineAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** When the files of its results were removed, because they were kept long enough. */
  readonly filesRemovedAt?: number | undefined;
}

/** What a caller sees of a task. Reading it costs a fraction of reading the whole. */
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

/** What a caller sees of a task that was stored just now, without reading it. */
export function summaryOfNew(task: NewTask): TaskSummary {
  const { id, accountId, kind, model, held, createdAt, parent } = task;
  const begun = { status: "pending", progress: 0, cancelRequested: false, results: [] } as const;
  return { id, accountId, kind, model, held, createdAt, parent, ...begun };
}

/**
 * `intent` may have been sent · `accepted` the upstream has it · `rejected` it certainly has not · `ambiguous` nobody can say ·
 * `done` over. Another attempt may follow a `rejected` one, and one that is `done` without having made or cost anything.
 */
export const ATTEMPT_STATES = ["intent", "accepted", "rejected", "ambiguous", "done"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** Where an output is: already stored here, to be fetched from the upstream with its own reference, or not to be had. */
export type AttemptOutput =
  | { readonly kind: "stored"; readonly file: StoredFile }
  | { readonly kind: "remote"; readonly ref: Json }
  | MissingOutput;

/** What was seen of an attempt on its way. Times are milliseconds; what is absent was not measured. */
export interface AttemptTrace {
  /** Until the connections of the submission were open. */
  readonly connectMs?: number | undefined;
  /** While its inputs were uploaded, and its body was handed to the connection. */
  readonly uploadMs?: number | undefined;
  /** The rest of the submission. */
  readonly submitMs?: number | undefined;
  /** How often its upstream was asked for it, since the service was started last. */
  readonly polls?: number | undefined;
  /** While its outputs were fetched. */
  readonly fetchMs?: number | undefined;
  /** While they were checked and stored. */
  readonly storeMs?: number | undefined;
  /** Of the latest answer to its submission. */
  readonly httpStatus?: number | undefined;
  /** What the upstream calls the request of that answer. */
  readonly upstreamRequestId?: string | undefined;
  /** What the upstream calls the job. */
  readonly jobId?: string | undefined;
}

/** One submission of a task to one route. */
export interface Attempt {
  readonly id: AttemptId;
  readonly taskId: TaskId;
  /** From 1. */
  readonly sequence: number;
  readonly provider: ProviderId;
  /** The provider's account that has it, to its end. */
  readonly lane: LaneId;
  readonly upstreamModel: string;
  readonly state: AttemptState;
  /** What the adapter needs to find the attempt again, whatever its settings are by then; see `ProviderAdapter.terms`. */
  readonly terms?: Json | undefined;
  /** The upstream's opaque handle. */
  readonly operation?: Json | undefined;
  readonly outputs?: readonly AttemptOutput[] | undefined;
  readonly usage?: Usage | undefined;
  /** What it costs the operator, if known. */
  readonly costMicros?: Micros | undefined;
  /** What went wrong, in our words, for the operator. */
  readonly detail?: string | undefined;
  /** The ways that it was chosen among; absent where there was one only. */
  readonly considered?: readonly ConsideredWay[] | undefined;
  readonly trace?: AttemptTrace | undefined;
  readonly startedAt: number;
  /** When the upstream was known to have it; absent where its answer held the outputs. */
  readonly acceptedAt?: number | undefined;
  /** When its outputs were known, if some were still to be fetched then. */
  readonly madeAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

/** The exclusive right to advance a task, for a limited time. Writes under it are refused once the task has another token. */
export interface Lease {
  readonly token: LeaseToken;
  readonly task: Task;
  /** The latest attempt, if any was begun. */
  readonly attempt?: Attempt | undefined;
}
