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

/** Our masks mark what may change by transparency; some upstreams want a colour. */
export type MaskColour = "white" | "black";
/** `either`: white and transparent where it may change, for servers of one API of which some look at the one, some at the other. */
export const MASK_PAINTS = ["white", "black", "either"] as const;
export type MaskPaint = (typeof MASK_PAINTS)[number];

/** An input of the task, decoded and stored here before any provider sees it. */
export interface InputFile extends MediaProbe {
  readonly role: InputRole;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Read when it is looked at. */
  readonly content: Blob;
  /** Masks only: a grey picture in which this marks what may change. */
  readonly painted?: ((paint: MaskPaint) => Promise<Blob>) | undefined;
  /**
   * The address under which anybody can fetch it for a day or two, without a key; the same whenever its attempt is sent. Absent where
   * this service has no address that it can be reached by.
   */
  readonly url?: (() => string) | undefined;
}

/** What one attempt is to make. */
export interface Submission {
  /** The attempt's id. Goes out as the upstream's idempotency key or metadata wherever it takes one. */
  readonly attempt: AttemptId;
  readonly taskId: TaskId;
  readonly upstreamModel: string;
  /** The route's. */
  readonly wording?: Wording | undefined;
  readonly request: GenerationRequest;
}

/** Told of what a submission does on its way, for the trace of its task. */
export interface Tracing {
  /** `connect` until a connection was open; `upload` while inputs were uploaded, or a body was handed to the connection. */
  took(phase: "connect" | "upload", ms: number): void;
  /** An answer came. @param requestId what the upstream calls the request; free of secrets */
  answered(status: number, requestId: string | undefined): void;
  /** What the upstream is told of the trace that the submission is a part of (https://www.w3.org/TR/trace-context/). */
  readonly traceparent?: string | undefined;
}

export interface SubmitRequest extends Submission {
  /** The request's inputs, in its order. */
  readonly inputs: readonly InputFile[];
  readonly previews?: Previews | undefined;
  readonly tracing?: Tracing | undefined;
  /**
   * Where the upstream may call when the job is done; the same whenever its attempt is sent. A secret. Absent where this service has
   * no address that it can be reached by.
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
  /** As they were submitted; absent where one is no longer stored. */
  readonly inputs?: readonly InputFile[] | undefined;
}

/** What an upstream reports about work that it is done with. */
export interface Report {
  readonly usage?: Usage | undefined;
  /** What it charges the operator for it, by its own word. */
  readonly costMicros?: Micros | undefined;
}

/** A request for early versions of a task's outputs. Without it an upstream is asked for none, because they cost. */
export interface Previews {
  /** For each output, 1-3. An upstream may make fewer. */
  readonly wanted: number;
  /** Whether anybody watches now. */
  isWatched(): boolean;
  /** Passes a preview on to those who watch. Drops what is no image, too large or too late. Never throws. */
  show(preview: Omit<Preview, "type">): void;
}

/**
 * One output of an upstream: its bytes, a reference that `fetchOutput` of the same adapter understands, or why it is missing at its
 * place.
 */
export type Output =
  /** `size`: what was asked for, `1024x768`, where the upstream may make another one without a word. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly size?: string | undefined }
  | { readonly kind: "remote"; readonly ref: Json }
  | MissingOutput;

/** A job that an upstream took. */
interface Taken {
  readonly operation: Json;
  /** What the upstream calls it, for people who ask there; free of secrets. */
  readonly jobId?: string | undefined;
}

export type Submitted =
  | ({
      readonly kind: "operation";
      readonly pollAfterMs?: number | undefined;
      /** The upstream was told the `hookUrl`, so the job is asked after more rarely. */
      readonly isHooked?: boolean | undefined;
    } & Taken)
  | ({ readonly kind: "outputs"; readonly outputs: readonly Output[] } & Report);

export type PollResult =
  /** `progress` 0-100 when the upstream tells; `pollAfterMs` when it says when to ask again. */
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
      /** What it charges for it, by its own word. */
      readonly costMicros?: Micros | undefined;
      /** The job says nothing against the request: another route may make it. Never set for what was refused for its content. */
      readonly mayReroute?: boolean | undefined;
      /** The upstream no longer knows the job, for example since it was restarted. */
      readonly isLost?: boolean | undefined;
    }
  | { readonly kind: "cancelled" };

/** What became of a submission: its operation, or the certainty that the upstream has none. */
export type Recovered =
  | ({ readonly kind: "found" } & Taken)
  /** `unable`: the upstream cannot be asked for such a submission. */
  | { readonly kind: "absent" | "unable" };

/** What the cheapest call of an account came to. Details are for the operator, and free of secrets. */
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

/** The most requests of a kind in a time. They are spread evenly over it. */
export interface Rates {
  readonly submissionsPerMinute?: number | undefined;
  readonly pollsPerMinute?: number | undefined;
}

/**
 * One account at one upstream. Answers are values; trouble is a thrown `ProviderError`. Anything else thrown is a defect and counts as
 * `unknown` while submitting, as `retry` elsewhere. Every method stops promptly when its signal aborts.
 */
export interface ProviderAdapter {
  /** The provider. */
  readonly id: ProviderId;
  /** The account at the provider. There is one adapter for each. */
  readonly lane: LaneId;
  /** The upstream honours the attempt id as a key, so submitting again after "unknown" is safe. */
  readonly submitIsIdempotent: boolean;
  /** Making a task twice harms nobody, so whatever was lost on the way is submitted again until the task's deadline. */
  readonly repeatIsSafe?: boolean | undefined;
  /** What becomes of a submission without an answer that can be neither asked after nor repeated safely; `fail` unless given. */
  onUnknown?: OnUnknown | undefined;
  /** How many tasks this account may run at once. */
  readonly concurrency: number;
  /** How often the account may be asked; absent: as often as there is something to ask. */
  readonly rates?: Rates | undefined;
  /**
   * Where the account is reached now, such as base and region, without secrets. Stored with an attempt before it is sent, and given
   * back for everything that concerns it.
   */
  terms?(): Json;
  /** This account as it was reached under the terms of an earlier attempt. */
  withTerms?(terms: Json): ProviderAdapter;
  /** It takes files by their address alone, `InputFile.url`. Where there is none, it gets no request with files. */
  readonly needsInputUrls?: boolean | undefined;
  submit(request: SubmitRequest, signal: AbortSignal): Promise<Submitted>;
  poll?(operation: Json, signal: AbortSignal, previews?: Previews): Promise<PollResult>;
  /** Asks the upstream to stop. The next poll shows the result. `unable`: it does not stop such a job, or not any more. */
  cancel?(operation: Json, signal: AbortSignal): Promise<"unable" | undefined>;
  /** What became of a submission whose answer was lost. */
  recover?(request: RecoverRequest, signal: AbortSignal): Promise<Recovered>;
  /** The bytes of a `remote` output, from the upstream's own origin. */
  fetchOutput?(ref: Json, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * The models of the catalogue that it makes now, by their ids and in their own words, also without a route that names it. Absent: it
   * makes what routes name, and no more.
   */
  models?(signal: AbortSignal): Promise<readonly string[]>;
  /** Whether the upstream has signed a call. `unknown`: it signs none, or what proves it cannot be had now. Never throws. */
  verifyHook?(call: HookCall, signal: AbortSignal): Promise<"genuine" | "forged" | "unknown">;
  /**
   * What the upstream lacks for a route to work, a line each for the operator, free of secrets. @throws ProviderError without an answer
   */
  lacks?(route: Pick<Route, "upstreamModel" | "wording">, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * What the upstream has to load before it can make a route's tasks, such as a checkpoint, where that takes it seconds: not empty, and the
   * same wherever it need not load again. Tasks of one setup are sent in a row. Undefined or absent: it makes them as they come.
   */
  setupOf?(route: Pick<Route, "upstreamModel" | "wording">): string | undefined;
  /** Proves key, region and balance by a call that makes nothing. Absent: the upstream has none. */
  test?(signal: AbortSignal): Promise<Tested>;
  /** Moves the times in its own records: the clock that it was given has jumped by this much. */
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
      /** Only the operator can help: the upstream refuses our key or account, or the route, or our account there has no money left. */
      readonly refused?: "key" | "route" | "spent" | undefined;
      /** The upstream says that it is asked too often. */
      readonly isTooOften?: boolean | undefined;
      /** The upstream tried and failed. Waiting alone will not help. */
      readonly isFailure?: boolean | undefined;
    } = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }

  /** How long the upstream asks everybody to wait who uses the account; undefined where it does not. */
  get pauseMs(): number | undefined {
    const { retryAfterMs, isFailure } = this.details;
    return this.disposition === "retry" && isFailure !== true ? retryAfterMs : undefined;
  }

  get publicMessage(): string {
    return this.details.publicMessage ?? TASK_ERROR_MESSAGES[this.code];
  }
}
