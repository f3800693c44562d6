import type { AccountId, CallbackId, IdByPrefix, IdPrefix, KeyId, LeaseToken, TaskId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { LogLevel } from "../log-level.ts";
import type { Preview } from "../task/preview.ts";
import type { Task } from "../task/task.ts";

/** The only source of the present time. */
export interface Clock {
  /** Epoch milliseconds. Jumps when the service takes over a step of the system's clock, so never subtract two readings. */
  now(): number;
  /** Milliseconds that never jump, for measuring how long something takes. */
  elapsed(): number;
  /** Calls `run` once after `delayMs` (0 or more; longer than 2^31-1 is shortened to it). Returns a function that cancels. */
  after(delayMs: number, run: () => void): () => void;
}

/** A clock that follows steps of the system's clock only on command, so that stored times can be moved along. */
export interface SteadyClock extends Clock {
  /** How far it is behind the system's clock; negative when it is ahead. */
  behindMs(): number;
  jump(byMs: number): void;
}

/** The only source of identifiers. */
export interface Ids {
  create<P extends IdPrefix>(prefix: P): IdByPrefix[P];
  leaseToken(): LeaseToken;
}

/** Uniform in [0, 1). For jitter, never for secrets. */
export type Random = () => number;

/** The only source of secrets, and of the one-way hash in which they are stored. */
export interface Secrets {
  /** 32 base62 characters from a cryptographic source, each equally likely. */
  newBody(): string;
  /** Lower-case hexadecimal SHA-256 of the text's UTF-8 bytes. */
  hash(text: string): string;
  /** The same for a text that arrives in pieces. */
  hashPieces(pieces: AsyncIterable<string>): Promise<string>;
  /** `whsec_` and the base64 of 32 bytes from a cryptographic source. */
  newSigningSecret(): string;
  /** Base64 of the HMAC-SHA256 of the text's UTF-8 bytes, keyed by a secret that `isSigningSecret` takes. */
  sign(secret: string, text: string): string;
}

/** Encrypts secrets that must be readable later, so that they are unreadable where they are stored. */
export interface Seal {
  /** @param boundTo what the secret belongs to; it opens only with the same text */
  seal(plain: string, boundTo: string): string;
  /** Undefined if no available key opens it, or if it belongs to something else. */
  open(stored: string, boundTo: string): string | undefined;
  /** Signs a text with the current key, in characters that are safe in URLs. Equal texts get equal signatures. */
  sign(text: string): string;
  /** Whether the current key, or another available one, signed the text. */
  isSigned(text: string, signature: string): boolean;
  /** `sealed` with the current key, `sealed_before` with another one, or `clear`. */
  stateOf(stored: string): "clear" | "sealed" | "sealed_before";
}

export type LogFields = { readonly [name: string]: Json | Error | undefined };

/** Structured log. Never given a credential, a request body, or a prompt. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** Whether lines of a level are written. If the member is absent, all are. Used before building lines for every request. */
  isWritten?(level: LogLevel): boolean;
}

/** A log whose level can be changed at run time. */
export interface LeveledLog extends Log {
  level(): LogLevel;
  /** From now on, lines below this level are not written. */
  setLevel(level: LogLevel): void;
}

/** Tells waiting callers in this process that a task has changed. If a call is lost, the answer is delayed but not lost. */
export interface TaskFeed {
  publish(task: Pick<Task, "id" | "accountId">, isOver: boolean): void;
  /** Calls `listener` at every change of the task, with a flag for the last change, until the returned function is called. */
  subscribe(id: TaskId, listener: (isOver: boolean) => void): () => void;
  /** Calls `listener` at every change of any of the account's tasks, until the returned function is called. */
  subscribeAccount(id: AccountId, listener: () => void): () => void;
  /** Calls `listener` at every change of any task, with a flag for its last change, until the returned function is called. */
  subscribeAll(listener: (id: TaskId, isOver: boolean) => void): () => void;
}

/**
 * Tells those in this process who listen to a key's callbacks that one is sent again. Does not store anything for late
 * listeners.
 */
export interface CallbackFeed {
  publish(key: KeyId, callback: CallbackId): void;
  /** Calls `listener` with each callback of the key that is sent again, until the returned function is called. */
  subscribe(key: KeyId, listener: (callback: CallbackId) => void): () => void;
}

/** Shows early versions of a task's outputs to those who watch in this process. Does not store anything for late watchers. */
export interface PreviewFeed {
  publish(id: TaskId, preview: Preview): void;
  /** Whether anybody watches the task. */
  isWatched(id: TaskId): boolean;
  /** Calls `listener` with each preview of the task, until the returned function is called. */
  subscribe(id: TaskId, listener: (preview: Preview) => void): () => void;
}
