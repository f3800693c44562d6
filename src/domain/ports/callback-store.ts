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
  /** From one account to one host. */
  readonly perHost: number;
  /** Where it is another number, by `placeOf`. */
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
  /** Those of the tasks of one key. */
  readonly keyId?: KeyId | undefined;
}

/** A callback with the names that an operator knows its owners by. */
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
 * The callbacks of ended tasks, and every send of them. They are written by `TaskStore.apply`, with the end of their task.
 * Every method is one transaction, durable before its promise resolves.
 */
export interface CallbackStore {
  /**
   * Takes what is due, as far as the limits allow, and counts one send for each before it leaves. Accounts take turns, then the hosts
   * of an account; the longest due comes first. A send without an outcome is due again at `now + leaseMs`, or failed if it was the
   * last attempt.
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
   * Sends that were counted and have no outcome. At a start: those an earlier process was in the middle of. Where several processes
   * send, `begunBefore` leaves out what others may be in the middle of.
   */
  unfinished(begunBefore?: number): Promise<CallbackSend[]>;
  /** Whether `claim` would look at any. Costs no write, so that one can ask every second. */
  hasDue(now: number): Promise<boolean>;
  /** When one of those that wait for a time is due; undefined when none does. */
  nextDueAt(): Promise<number | undefined>;
  /**
   * Asks for one more send of each, at once and not one of the five; not of one that was redelivered
   * `MAX_CALLBACK_REDELIVERIES` times.
   *
   * @param act of an operator, for the trail
   * @returns those it was asked for, as they stand now: `isRedeliveryDue` where it was granted
   */
  redeliver(filter: CallbackFilter, act?: Act): Promise<Callback[]>;

  // Reads.
  byId(id: CallbackId): Promise<Callback | undefined>;
  list(filter: CallbackFilter): Promise<Callback[]>;
  /**
   * Callbacks of all accounts, newest first. Looks at a bounded number of them, so that a page can be short, even empty, and not be
   * the last.
   */
  managedCallbacks(filter: ManagedCallbackFilter): Promise<ManagedCallbackPage>;
  /** What is still to be sent, redeliveries included. Costs the same however many are owed. */
  owed(): Promise<OwedCallbacks>;
  /** In their order. */
  attempts(id: CallbackId): Promise<CallbackAttempt[]>;
}
