import type { Act } from "../access/actor.ts";
import type {
  Callback,
  CallbackAttempt,
  CallbackSend,
  CallbackState,
  Delivery,
} from "../callback/callback.ts";
import type { AccountId, CallbackId, KeyId, TaskId } from "../ids.ts";
import type { OwedCallbacks } from "../overview.ts";

/** How many sends may run at once. */
export interface SendLimits {
  readonly total: number;
  readonly perAccount: number;
  /** Sends from one account to one host. */
  readonly perHost: number;
  /** Limits of places with a number of their own, by `placeOf`. */
  readonly ofPlaces?: ReadonlyMap<string, number> | undefined;
}

export interface CallbackClaim {
  readonly now: number;
  /** After this time, a send without an outcome counts as lost. */
  readonly leaseMs: number;
  readonly limits: SendLimits;
  /** The callbacks that are being sent. */
  readonly underWay: Iterable<Callback>;
}

/** Selects callbacks of an account, newest first. */
export interface CallbackFilter {
  readonly accountId: AccountId;
  readonly id?: CallbackId | undefined;
  readonly taskId?: TaskId | undefined;
  readonly state?: CallbackState | undefined;
  /** Created then or later. */
  readonly from?: number | undefined;
  /** Created before. */
  readonly to?: number | undefined;
  /** ≥ 1. */
  readonly limit: number;
  /** Callbacks older than this one. */
  readonly after?: CallbackId | undefined;
}

/** Selects callbacks of all accounts, newest first. */
export interface ManagedCallbackFilter extends Omit<CallbackFilter, "accountId"> {
  readonly accountId?: AccountId | undefined;
  /** Callbacks for the tasks of one key. */
  readonly keyId?: KeyId | undefined;
}

/** A callback with the names of its account and key, for operators. */
export interface ManagedCallback extends Callback {
  readonly account: { readonly id: AccountId; readonly name: string };
  readonly key: { readonly id: KeyId; readonly name: string };
}

/** One page of callbacks, newest first. */
export interface ManagedCallbackPage {
  readonly callbacks: readonly ManagedCallback[];
  /** The callback after which the next page begins; absent on the last one. */
  readonly next?: CallbackId | undefined;
}

/**
 * The callbacks of ended tasks, and every send of them. `TaskStore.apply` writes callbacks together with the end of their task.
 * Every method is one transaction, durable before its promise resolves.
 */
export interface CallbackStore {
  /**
   * Takes callbacks that are due, within the limits, and counts one send for each before it leaves. Accounts take turns, and so
   * do the hosts of an account; the callback that has been due longest comes first. A send without an outcome is due again at
   * `now + leaseMs`, or failed if it was the last attempt.
   */
  claim(query: CallbackClaim): Promise<CallbackSend[]>;
  /**
   * Records the outcome of a send. A pending callback is due again at `retryAt`. It fails without one, or after its fifth attempt. A
   * redelivery that fails changes nothing else. A callback that was acknowledged once is delivered.
   */
  record(
    send: Pick<CallbackSend, "callback" | "sequence" | "isRedelivery">,
    delivery: Delivery,
    at: number,
    retryAt?: number,
  ): Promise<void>;
  /**
   * Sends that were counted and have no outcome. At a start, these are sends that an earlier process did not finish. If several
   * processes send, `begunBefore` leaves out sends that another process may still be making.
   */
  unfinished(begunBefore?: number): Promise<CallbackSend[]>;
  /** Whether `claim` would look at any callback. Costs no write, so callers may ask every second. */
  hasDue(now: number): Promise<boolean>;
  /** When the next waiting callback is due; undefined when none waits. */
  nextDueAt(): Promise<number | undefined>;
  /**
   * Requests one more send of each callback, at once and in addition to the five attempts. Skips callbacks that were
   * redelivered `MAX_CALLBACK_REDELIVERIES` times.
   *
   * @param act an operator's act, for the trail
   * @returns the callbacks as they are now; `isRedeliveryDue` says whether the request was granted
   */
  redeliver(filter: CallbackFilter, act?: Act): Promise<Callback[]>;

  // Reads.
  byId(id: CallbackId): Promise<Callback | undefined>;
  list(filter: CallbackFilter): Promise<Callback[]>;
  /**
   * Callbacks of all accounts, newest first. Looks at a bounded number of them, so a page can be short, even empty, without
   * being the last.
   */
  managedCallbacks(filter: ManagedCallbackFilter): Promise<ManagedCallbackPage>;
  /**
   * How many callbacks were given up since a moment and have not been delivered by a redelivery. Looks at the newest `among` of those
   * that are given up.
   */
  givenUp(since: number, among: number): Promise<number>;
  /** Everything that must still be sent, including redeliveries. The cost does not depend on how much is owed. */
  owed(): Promise<OwedCallbacks>;
  /** How many `owed` tells. The cost grows with them, and no other write pays for it. */
  owedCount(): Promise<number>;
  /** In their order. */
  attempts(id: CallbackId): Promise<CallbackAttempt[]>;
}
