import type { LaneId, ModelId } from "./ids.ts";
import type { Micros } from "./money/money.ts";

/** A task that ended with a result or failed. */
export interface EndedTask {
  readonly model: ModelId;
  /** The account that had it last. */
  readonly provider: LaneId;
  readonly status: "completed" | "failed";
  /** From its create to its end. */
  readonly durationMs: number;
  readonly charged: Micros;
}

/** An ended task of the past. */
export interface RecentEnding extends EndedTask {
  /** Epoch milliseconds. */
  readonly endedAt: number;
}

/** Tasks that ended recently, as far as they were read. */
export interface RecentEndings {
  /** The list contains every task that ended at this time or later. Epoch milliseconds. */
  readonly since: number;
  readonly tasks: readonly RecentEnding[];
}

/** How many live tasks a lane has, by stage. */
export interface LaneCount {
  readonly lane: LaneId;
  readonly queued: number;
  /** Between submission and end. */
  readonly underWay: number;
  /** Those of them that wait for their results, and hold no place of the lane (`awaitsResults`). */
  readonly awaiting: number;
}

/** The live tasks of one lane. */
export interface LaneLoad extends Omit<LaneCount, "awaiting"> {
  /** When the oldest queued task was created, in epoch milliseconds, accurate to a second; absent if none is queued. */
  readonly oldestAt?: number | undefined;
}

/** The tasks of one account that a lane may start. */
export interface OwnReady {
  readonly count: number;
  /** When the oldest was created, in epoch milliseconds; absent if there is none. */
  readonly oldestAt?: number | undefined;
}

/** Callbacks that must still be sent, including those under way. */
export interface OwedCallbacks {
  readonly count: number;
  /** When the oldest was created, in epoch milliseconds, accurate to a second; absent if none is owed. */
  readonly oldestAt?: number | undefined;
}

/** Answers by the first digit of their status. */
export const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** Requests and creates of the last minute. */
export interface MinuteCounts {
  /** The period that was counted: a minute, or less after a start. */
  readonly lengthMs: number;
  readonly answered: Readonly<Record<StatusClass, number>>;
  readonly created: number;
  /** Whole seconds since the start. */
  readonly seconds: number;
  /** One entry per second, oldest first, without the second that has just begun: at most the latest 60. */
  readonly answeredBySecond: readonly number[];
  readonly createdBySecond: readonly number[];
}

/** How tasks of one model or provider ended in the last hour. */
export interface Endings {
  readonly completed: number;
  readonly failed: number;
}

export interface ModelEndings extends Endings {
  readonly model: ModelId;
  /** Over the completed tasks, accurate to 5 %; absent if none completed. */
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
}

export interface ProviderEndings extends Endings {
  readonly provider: LaneId;
}

/** The verdict of a content check on one request. */
export interface Judged {
  /** The name of the check. */
  readonly check: string;
  readonly verdict: "allowed" | "refused" | "outage";
  readonly durationMs: number;
}

/** The verdicts of a content check in the last hour. */
export interface CheckCounts {
  readonly check: string;
  readonly allowed: number;
  readonly refused: number;
  /** How often the check could not decide. */
  readonly outages: number;
  /** The median time of its verdicts, accurate to 5 %; absent if there were none. */
  readonly p50Ms?: number | undefined;
}

/** Tasks that ended in the last hour. */
export interface HourCounts {
  /** When counting began: an hour ago, or later after a start. Epoch milliseconds. */
  readonly since: number;
  readonly models: readonly ModelEndings[];
  readonly providers: readonly ProviderEndings[];
  /** By name: the checks that ran in the last hour. */
  readonly checks: readonly CheckCounts[];
  readonly charged: Micros;
}

/** How the process does. */
export interface Vitals {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** How late the event loop ran its timers in the last ten seconds. */
  readonly lagP50Ms: number;
  readonly lagMaxMs: number;
}

/** What the operating system says about the process. */
export interface ProcessFigures {
  /** Processor time of all its threads, in user and kernel mode. */
  readonly cpuSeconds: number;
  /** Open files and connections; absent if the system does not say. */
  readonly openFiles?: number | undefined;
  readonly mostFiles?: number | undefined;
}

/** The disk of the data folder. */
export interface DiskSpace {
  /** Free space that this user may use. */
  readonly freeBytes: number;
  /** Size of the database, without stored files. */
  readonly databaseBytes: number;
  readonly walBytes: number;
}

/** Connections that stay open. */
export interface OpenStays {
  readonly streams: number;
  readonly waits: number;
}

export interface LaneOverview extends LaneLoad {
  /** Absent for an account that is switched off. */
  readonly limit?: number | undefined;
}

export interface ProviderOverview extends ProviderEndings {
  /** Upstream models that the provider refuses to run for us until the operator acts; `*` for the account as a whole. */
  readonly refused: readonly string[];
}

/** The service at one moment, for its operator. */
export interface Overview {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Why no new tasks are taken. */
  readonly notReady?: string | undefined;
  readonly minute: MinuteCounts;
  readonly lanes: readonly LaneOverview[];
  /** Tasks in all lanes together that may be between submission and end. */
  readonly capacity: number;
  readonly hour: Omit<HourCounts, "providers">;
  readonly providers: readonly ProviderOverview[];
  readonly callbacks: OwedCallbacks;
  readonly vitals: Vitals;
  readonly disk: DiskSpace;
  readonly stays: OpenStays;
}
