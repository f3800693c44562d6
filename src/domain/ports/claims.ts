import type { AttemptId, LaneId, LeaseToken, ModelId, TaskId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { Attempt, Lease, Task } from "../task/task.ts";

/** How many tasks a lane may have between submission and end, without those that wait for their results. */
export interface LaneCapacity {
  readonly lane: LaneId;
  readonly capacity: number;
  /** How many of its queued tasks may start now; no limit unless given. */
  readonly starts?: number | undefined;
  /** Other accounts of its provider. If one of them has no room, this lane takes over its tasks that have no open attempt. */
  readonly siblings?: readonly LaneId[] | undefined;
}

export interface ClaimQuery {
  readonly now: number;
  readonly leaseMs: number;
  /**
   * Tasks that the caller still works on. If one looks due because the clock jumped, its lease is renewed and the task is not
   * returned.
   */
  readonly held?: ReadonlySet<TaskId> | undefined;
  /** The most leases to return, ≥ 1. */
  readonly limit: number;
  /** Lanes from which queued tasks may start. Tasks already under way are claimed whatever their lane. */
  readonly lanes: readonly LaneCapacity[];
  /** Tasks in all lanes together that may be between submission and end. */
  readonly capacity: number;
  /**
   * Returns the intent with which a queued task begins at once, in the same transaction; undefined leaves it `queued`. Must not
   * throw. May be called more than once for a task; each call means that the previous answer was rolled back.
   */
  readonly intentFor?: ((lease: Lease) => AttemptIntent | undefined) | undefined;
}

export interface Claimed {
  /** The leased tasks, in their state before any was begun. */
  readonly leases: readonly Lease[];
  /** The leased tasks that were begun with the intents of `intentFor`. Absent: none. */
  readonly begun?: ReadonlySet<TaskId> | undefined;
  /** When the next claim could find something if nothing else happens; absent when nothing waits for a time. */
  readonly nextDueAt?: number | undefined;
  /** Which lanes have room for one more task. Also `all` when nothing is queued. */
  readonly room: "all" | "some" | "none";
  /** Nothing is queued in any lane. */
  readonly isQueueEmpty?: true | undefined;
}

/** Keeps tasks from being claimed one by one that could only wait. */
export interface Postponing {
  /**
   * Makes ready tasks due at `until` that are of the account and the model of `task`, wait in its lane for the same setup, and were never
   * begun: those among the next `POSTPONED_AT_ONCE` of the account. @returns how many
   */
  postpone(task: Pick<Task, "id" | "lane" | "setup">, until: number): Promise<number>;
}

/** Lets tasks start that waited for a route which opens before they expected it. */
export interface Hastening {
  /**
   * Makes tasks due now that wait in a lane for their time, are of these models, and have not failed since they last got on: those among
   * the next `POSTPONED_AT_ONCE` of the lane. One that has failed keeps its time, which its upstream may have asked for. @returns how many
   */
  hasten(of: { readonly lane: LaneId; readonly models: readonly ModelId[] }, now: number): Promise<number>;
}

/** How many of an account's next tasks `postpone` looks at, and of a lane's `hasten`. */
export const POSTPONED_AT_ONCE = 500;

/** How a new task begins in the transaction that stores it, if its lane has room and no other task waits for the lane. */
export interface Start extends Pick<ClaimQuery, "lanes" | "capacity"> {
  readonly token: LeaseToken;
  /** The end of the lease. */
  readonly until: number;
  /** The first attempt, in the lane of the task. */
  readonly intent: AttemptIntent;
}

export interface AttemptIntent {
  readonly id: AttemptId;
  readonly lane: LaneId;
  readonly upstreamModel: string;
  /** See `Attempt.terms`. */
  readonly terms?: Json | undefined;
  /** See `Attempt.considered`. */
  readonly considered?: Attempt["considered"];
  readonly at: number;
  /** Becomes the task's deadline, unless it has one. */
  readonly deadlineAt: number;
}
