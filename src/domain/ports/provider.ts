import { TASK_ERROR_MESSAGES, type TaskErrorCode } from "../errors.ts";
import type { AttemptId, LaneId, ProviderId, TaskId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { MediaProbe } from "../media/asset.ts";
import type { Route } from "../model/model.ts";
import type { Wording } from "../model/wording.ts";
import type { Micros } from "../money/money.ts";
import type { Preview } from "../task/preview.ts";
import type { GenerationRequest, InputRole } from "../task/request.ts";
import type { MissingOutput } from "../task/result-issue.ts";
import type { OnUnknown } from "../task/routing.ts";
import type { Usage } from "../task/task.ts";

/**
 * What marks in a mask what may change. Ours mark it by transparency; some upstreams expect a colour. `either` is both white and
 * transparent, because of the servers of one API some read the colour and some the transparency.
 */
export const MASK_PAINTS = ["white", "black", "either"] as const;
export type MaskPaint = (typeof MASK_PAINTS)[number];

/** An input of the task, decoded and stored here before any provider sees it. */
export interface InputFile extends MediaProbe {
  readonly role: InputRole;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Its bytes are read on demand. */
  readonly content: Blob;
  /** Masks only: the mask as a grey picture in which this colour marks what may change. */
  readonly painted?: ((paint: MaskPaint) => Promise<Blob>) | undefined;
  /**
   * The address under which anybody can fetch the file for a day or two, without a key. It stays the same when the attempt is
   * sent again. Absent if this service has no public address.
   */
  readonly url?: (() => string) | undefined;
}

/** What one attempt must make. */
export interface Submission {
  /** The attempt's id. It is sent as the upstream's idempotency key or metadata if the upstream takes one. */
  readonly attempt: AttemptId;
  readonly taskId: TaskId;
  readonly upstreamModel: string;
  /** The route's. */
  readonly wording?: Wording | undefined;
  readonly request: GenerationRequest;
}

/** Receives the events of a submission, for the trace of its task. */
export interface Tracing {
  /**
   * `connect`: the time until a connection was open. `upload`: the time in which inputs were uploaded, or a body was handed to
   * the connection.
   */
  took(phase: "connect" | "upload", ms: number): void;
  /** An answer came. @param requestId the upstream's id of the request; free of secrets */
  answered(status: number, requestId: string | undefined): void;
  /** The header that makes the submission part of the trace (https://www.w3.org/TR/trace-context/). */
  readonly traceparent?: string | undefined;
}

export interface SubmitRequest extends Submission {
  /** The request's inputs, in its order. */
  readonly inputs: readonly InputFile[];
  readonly previews?: Previews | undefined;
  readonly tracing?: Tracing | undefined;
  /**
   * The address that the upstream may call when the job is done. It stays the same when the attempt is sent again. A secret.
   * Absent if this service has no public address.
   */
  readonly hookUrl?: string | undefined;
}

/** A call of an upstream about a job. */
export interface HookCall {
  header(name: string): string | undefined;
  /** As it came. */
  readonly body: Uint8Array;
}

/** A submission whose answer was lost. */
export interface RecoverRequest extends Submission {
  /** The inputs as they were submitted; absent if one of them is no longer stored. */
  readonly inputs?: readonly InputFile[] | undefined;
  /** When the attempt began, by our clock, epoch milliseconds; absent: long ago. */
  readonly startedAt?: number | undefined;
}

/** What an upstream reports about finished work. */
export interface Report {
  readonly usage?: Usage | undefined;
  /** What the upstream says that it charges the operator. */
  readonly costMicros?: Micros | undefined;
}

/** A request for early versions of a task's outputs. Without one, the upstream is not asked for any, because they cost money. */
export interface Previews {
  /** Number for each output, 1-3. An upstream may make fewer. */
  readonly wanted: number;
  /** Whether anybody watches now. */
  isWatched(): boolean;
  /** Passes a preview to everyone who watches. Drops a preview that is no image, too large or too late. Never throws. */
  show(preview: Omit<Preview, "type">): void;
}

/**
 * One output of an upstream: its bytes, a reference that `fetchOutput` of the same adapter understands, or the reason why the
 * output at this position is missing.
 */
export type Output =
  /** `size`: the size that was requested, `1024x768`, if the upstream may silently make another one. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly size?: string | undefined }
  | { readonly kind: "remote"; readonly ref: Json }
  | MissingOutput;

/** A job that an upstream accepted. */
interface Taken {
  readonly operation: Json;
  /** The upstream's id of the job, for people who ask there; free of secrets. */
  readonly jobId?: string | undefined;
}

export type Submitted =
  | ({
      readonly kind: "operation";
      readonly pollAfterMs?: number | undefined;
      /** The upstream knows the `hookUrl`, so the job is polled less often. */
      readonly isHooked?: boolean | undefined;
    } & Taken)
  | ({ readonly kind: "outputs"; readonly outputs: readonly Output[] } & Report);

export type PollResult =
  /** `progress` is 0-100 if the upstream reports it. `pollAfterMs` is set if the upstream says when to ask again. */
  | {
      readonly kind: "pending";
      readonly progress?: number | undefined;
      readonly pollAfterMs?: number | undefined;
    }
  | ({ readonly kind: "succeeded"; readonly outputs: readonly Output[] } & Report)
  /** The upstream ended the job without a result. `message` is safe to show the owner of the task. */
  | {
      readonly kind: "failed";
      readonly code: TaskErrorCode;
      readonly message?: string | undefined;
      /** For the operator; free of secrets. */
      readonly detail?: string | undefined;
      /** The work was done, and the upstream charges for it. */
      readonly isCharged?: boolean | undefined;
      /** What the upstream says that it charges. */
      readonly costMicros?: Micros | undefined;
      /** The failure is not the request's fault, so another route may succeed. Never set if the content was refused. */
      readonly mayReroute?: boolean | undefined;
      /** The upstream no longer knows the job, for example because it was restarted. */
      readonly isLost?: boolean | undefined;
    }
  | { readonly kind: "cancelled" };

/** The fate of a submission: its operation, or the certainty that the upstream has no such job. */
export type Recovered =
  | ({ readonly kind: "found" } & Taken)
  /**
   * `unable`: the upstream has no way to look up such a submission. `unsettled`: it knows no such job, but may have taken one just now
   * that not all of its servers have heard of.
   */
  | { readonly kind: "absent" | "unable" | "unsettled" };

/** The result of the cheapest call of an account. Details are for the operator, and free of secrets. */
export type Tested =
  | {
      readonly kind: "ok";
      /** In the upstream's own unit. */
      readonly balance?: number | undefined;
      readonly balanceMicros?: Micros | undefined;
    }
  /** `refused`: the key, the account or the region is wrong · `spent`: no money is left · `untested`: there is no such call. */
  | {
      readonly kind: "refused" | "spent" | "unreachable" | "failed" | "untested";
      readonly detail: string;
    };

/** A limit on requests of one kind within a time. Requests are spread evenly over it. */
export interface Rates {
  readonly submissionsPerMinute?: number | undefined;
  readonly pollsPerMinute?: number | undefined;
}

/**
 * One account at one upstream. Answers are returned; failures are thrown as `ProviderError`. Any other thrown value is a defect
 * and counts as `unknown` while submitting and as `retry` elsewhere. Every method stops promptly when its signal aborts.
 */
export interface ProviderAdapter {
  /** The provider. */
  readonly id: ProviderId;
  /** The account at the provider. There is one adapter for each. */
  readonly lane: LaneId;
  /** The upstream honours the attempt id as a key, so submitting again after "unknown" is safe. */
  readonly submitIsIdempotent: boolean;
  /** Making a task twice harms nobody, so lost submissions are repeated until the task's deadline. */
  readonly repeatIsSafe?: boolean | undefined;
  /**
   * What happens to a task whose submission got no answer, if the upstream can neither look it up nor take it again safely;
   * `fail` unless given.
   */
  onUnknown?: OnUnknown | undefined;
  /** How many tasks this account may run at once. */
  readonly concurrency: number;
  /** How often the account may be called; absent: without a limit. */
  readonly rates?: Rates | undefined;
  /** The upstream counts the submissions of each model by themselves: that one gets too many says nothing about the others. */
  readonly limitsByModel?: boolean | undefined;
  /**
   * How the account is reached now, such as base and region, without secrets. It is stored with an attempt before the attempt
   * is sent, and used for everything that concerns the attempt later.
   */
  terms?(): Json;
  /** This account as it was reached under an earlier attempt's terms. */
  withTerms?(terms: Json): ProviderAdapter;
  /** The account takes files only by their address, `InputFile.url`. If files have no address, it gets no requests with files. */
  readonly needsInputUrls?: boolean | undefined;
  submit(request: SubmitRequest, signal: AbortSignal): Promise<Submitted>;
  poll?(operation: Json, signal: AbortSignal, previews?: Previews): Promise<PollResult>;
  /** Asks the upstream to stop. The next poll shows the result. `unable`: it cannot stop such a job, or can no longer do so. */
  cancel?(operation: Json, signal: AbortSignal): Promise<"unable" | undefined>;
  /** Finds out what happened to a submission whose answer was lost. */
  recover?(request: RecoverRequest, signal: AbortSignal): Promise<Recovered>;
  /** The bytes of a `remote` output, from the upstream's own origin. */
  fetchOutput?(ref: Json, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * The catalogue's models that the account makes now, each with its id and its upstream name, even without a route that names
   * it. Absent: it makes only what routes name.
   */
  models?(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether the upstream has signed a call. `unknown`: it does not sign, or the proof is not available now. Never throws. */
  verifyHook?(call: HookCall, signal: AbortSignal): Promise<"genuine" | "forged" | "unknown">;
  /**
   * What the upstream lacks for a route to work, one line each, for the operator, free of secrets. @throws ProviderError if the
   * upstream does not answer
   */
  lacks?(route: Pick<Route, "upstreamModel" | "wording">, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * What the upstream must load before it can make a route's tasks, such as a checkpoint, if loading takes seconds. Not empty;
   * equal for routes between which it need not load again. Tasks of one setup are sent in a row. Undefined or absent: their
   * order does not matter.
   */
  setupOf?(route: Pick<Route, "upstreamModel" | "wording">): string | undefined;
  /** Proves key, region and balance by a call that makes nothing. Absent: the upstream has no such call. */
  test?(signal: AbortSignal): Promise<Tested>;
  /** Shifts the times in the adapter's own records by a jump of the clock. */
  moveTimes?(byMs: number): void;
  /** Releases workers, files and connections. */
  stop?(): Promise<void>;
}

/**
 * What an error of an upstream means for the attempt.
 * `retry` certainly not taken (or, while polling, no answer): try again later · `reroute` certainly not taken, and this route
 * will not take it · `fail` certainly not taken, and no route would · `unknown` it may have been taken · `unusable` it was taken, and
 * its answer holds no result that can be read.
 */
export type Disposition = "retry" | "reroute" | "fail" | "unknown" | "unusable";

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    readonly disposition: Disposition,
    readonly code: TaskErrorCode,
    /** For the operator; free of secrets. */
    message: string,
    readonly details: {
      readonly retryAfterMs?: number | undefined;
      /** Safe to show the owner of the task; replaces the code's own message. */
      readonly publicMessage?: string | undefined;
      /**
       * Only the operator can help: the upstream refuses our key, our account or the route, or our account there has no money
       * left.
       */
      readonly refused?: "key" | "route" | "spent" | undefined;
      /** The upstream says that it gets too many requests. */
      readonly isTooOften?: boolean | undefined;
      /** It is the upstream that cannot answer, so that `retryAfterMs` says nothing about its other models. */
      readonly isUnable?: boolean | undefined;
      /** The upstream tried and failed. A retry after a delay alone will not help. */
      readonly isFailure?: boolean | undefined;
    } = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }

  /** How long the upstream asks to wait, and not this task alone; undefined if it does not ask. */
  get pauseMs(): number | undefined {
    const { retryAfterMs, isFailure } = this.details;
    return this.disposition === "retry" && isFailure !== true ? retryAfterMs : undefined;
  }

  get publicMessage(): string {
    return this.details.publicMessage ?? TASK_ERROR_MESSAGES[this.code];
  }
}
