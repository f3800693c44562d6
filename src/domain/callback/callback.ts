import type { AccountId, CallbackId, KeyId, TaskId } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** Whether a callback's receiver has acknowledged it, may still do so, or never will. */
export const CALLBACK_STATES = ["pending", "delivered", "failed"] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** The headers of every callback (docs/api.md 6.1). A signature is added to them. */
export const CALLBACK_HEADERS = {
  "Content-Type": "application/json",
  "User-Agent": "Service-Callback/1.0",
} as const;

/**
 * The events that a task's callback address can receive. The default form sends only `completed` and `failed` (docs/api.md
 * 6.1).
 */
export const CALLBACK_EVENTS = ["started", "progressed", "completed", "failed", "cancelled"] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

/** The event that a group's address receives: all tasks of the group have ended. The terms of a single task never name it. */
export const GROUP_ENDED = "group_ended";
/** The form of that callback; see `CallbackTerms.form`. */
export const GROUP_FORM = "group";

/** How a task's callbacks are worded and sent, if not in the default form. Stored with the task. */
export interface CallbackTerms {
  /** Name of the form, for the code that words and sends it (`CallbackForms`). Nothing else reads the name. */
  readonly form: string;
  /** The events to send. Each `progressed` and each other event is a callback of its own. */
  readonly events: readonly CallbackEvent[];
  /** Attempts that each callback gets, 1 … `MAX_FORM_ATTEMPTS`. */
  readonly attempts: number;
  /** Options that the creator gave to the form, in the form's own words. */
  readonly options?: JsonObject | undefined;
}

/** A promise to report an event to the caller's address; written in the transaction of that event. */
export interface Callback {
  readonly id: CallbackId;
  /** For a group's callback: the task that ended last, or another one of the group if that was deleted before it was told. */
  readonly taskId: TaskId;
  readonly requestId: string;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly url: string;
  /** Host and port of the URL. Sends to one never hold up sends to another. */
  readonly host: string;
  readonly state: CallbackState;
  /** What it tells of. */
  readonly event: CallbackEvent | typeof GROUP_ENDED;
  /** See `CallbackTerms.form`; absent for the default. */
  readonly form?: string | undefined;
  /** The most attempts it gets, if not the default's five. */
  readonly mostAttempts?: number | undefined;
  /** Attempts begun so far. Each is counted before it is sent, so that a crash cannot cause one too many. */
  readonly attempts: number;
  /** When the next attempt of a pending callback is due. During an attempt: when that attempt counts as lost. */
  readonly dueAt: number;
  /** Whether a redelivery was requested that has not begun. */
  readonly isRedeliveryDue: boolean;
  readonly createdAt: number;
}

/** Names the destination of a callback. All sends of one account to one host share one limit of concurrent sends. */
export function placeOf({ accountId, host }: Pick<Callback, "accountId" | "host">): string {
  return `${accountId} ${host}`;
}

/** A send that is counted and may leave now. */
export interface CallbackSend {
  /** The callback after this send was counted. */
  readonly callback: Callback;
  /** Counts from 1, attempts and redeliveries together. */
  readonly sequence: number;
  /** Somebody requested it, so it is not one of the five attempts. */
  readonly isRedelivery: boolean;
}

/** What is known about the receiver, as far as the send got. */
interface Contact {
  /** The address that was connected to. */
  readonly address?: string | undefined;
}

interface Answer extends Contact {
  readonly status: number;
  /** The first bytes of the answer's body as text, at most `CALLBACK_EXCERPT_BYTES` of them. */
  readonly excerpt?: string | undefined;
}

/** How one send went. */
export type Delivery =
  | ({ readonly kind: "delivered" } & Answer)
  | ({ readonly kind: "refused"; readonly retryAfterMs?: number | undefined } & Answer)
  | ({ readonly kind: "unreachable"; readonly reason: string } & Contact)
  /** The address may not be called at all (address guard); not retried. */
  | { readonly kind: "forbidden"; readonly reason: string }
  /** The service stopped before there was an answer: it may have arrived. */
  | { readonly kind: "interrupted" };

/** One send of a callback, as it is remembered. */
export interface CallbackAttempt {
  readonly sequence: number;
  readonly isRedelivery: boolean;
  readonly startedAt: number;
  /** Absent while it is under way. */
  readonly endedAt?: number | undefined;
  readonly outcome?: Delivery["kind"] | undefined;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly address?: string | undefined;
  readonly excerpt?: string | undefined;
}

/** Host and port a callback goes to, as it is written in a URL; the whole text where that is no URL. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
