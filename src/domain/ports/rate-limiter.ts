import type { KeyId } from "../ids.ts";

/** What is counted: requests of a key, or attempts to sign in from an address. */
export type Counted = KeyId | `sign-in ${string}`;

/** How many requests a key may still make in a minute. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** When the whole limit is available again, in epoch milliseconds; absent if nothing is used. */
  readonly resetsAt?: number | undefined;
}

/** The result of counting a request. */
export interface CountedRequest extends RateWindow {
  readonly isAllowed: boolean;
  /** Time until the window ends, above zero. */
  readonly resetsInMs: number;
}

/**
 * Counts requests of keys in windows of a minute. A window starts with its first request. Counts live in the memory of this process.
 * Each call gives the key's limit, so that a change applies at once. Requests that the old limit refused stay counted until the
 * window ends.
 */
export interface RateLimiter {
  /** Counts one request. Never allows more than the limit, even for simultaneous requests. */
  take(key: Counted, perMinute: number): Promise<CountedRequest>;
  /** What `take` would return, without counting. */
  peek(key: Counted, perMinute: number): Promise<RateWindow>;
}
