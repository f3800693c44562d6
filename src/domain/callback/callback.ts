import type { AccountId, CallbackId, KeyId, TaskId } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** Whether a callback's receiver has acknowledged it, may still do so, or is given up. */
export const CALLBACK_STATES = ["pending", "delivered", "failed"] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** What every callback is sent with (docs/api.md 6.1). A signature comes beside them. */
export const CALLBACK_HEADERS = {
  "Content-Type": "application/json",
  "User-Agent": "Service-Callback/1.0",
} as const;

/** What a task's callback address can be told of. The default form tells of `completed` and `failed` alone (docs/api.md 6.1). */
export const CALLBACK_EVENTS = ["started", "progressed", "completed", "failed", "cancelled"] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

/** What a group's address is told of: all of its tasks have ended. No task's own terms name it. */
export const GROUP_ENDED = "group_ended";
/** The form of that callback; see `CallbackTerms.form`. */
export const GROUP_FORM = "group";

/** How a task's callbacks are worded and sent, where that is not the default. Stored with the task. */
export interface CallbackTerms {
  /** Names the form, for those who word and send it (`CallbackForms`). Nothing else reads the name. */
  readonly form: string;
  /** What is told. Each `progressed` and each other event is a callback of its own. */
  readonly events: readonly CallbackEvent[];
  /** Attempts that each callback gets, 1 … `MAX_FORM_ATTEMPTS`. */
  readonly attempts: number;
  /** What the form was asked for, in its own words. */
  readonly options?: JsonObject | undefined;
}

/** A promise to tell the caller's address about a task; written in the transaction of what it tells. */
export interface Callback {
  readonly id: CallbackId;
  /** Of a group's: the task that ended last. */
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
  /** The most attempts it gets, where that is not the default's five. */
  readonly mostAttempts?: number | undefined;
  /** Attempts begun so far; counted before each is sent, so that no crash can make one too many. */
  readonly attempts: number;
  /** When the next attempt is due, of a pending one; while one is under way, when it counts as lost. */
  readonly dueAt: number;
  /** Whether one more send was asked for that has not begun. */
  readonly isRedeliveryDue: boolean;
  readonly createdAt: number;
}

/** Names where a callback goes: sends of one account to one host share their room. */
export function placeOf({ accountId, host }: Pick<Callback, "accountId" | "host">): string {
  return `${accountId} ${host}`;
}

/** A send that is counted, and may now leave. */
export interface CallbackSend {
  /** As it stands with this send counted. */
  readonly callback: Callback;
  /** From 1, attempts and redeliveries together. */
  readonly sequence: number;
  /** Asked for by somebody; not one of the five. */
  readonly isRedelivery: boolean;
}

/** What is known of the other side, as far as a send got. */
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
