import type { KeyId } from "../ids.ts";

/** What a key has left of the requests it may make in a minute. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** When all of the limit is there again, in epoch milliseconds; absent while nothing of it was used. */
  readonly resetsAt?: number | undefined;
}

/** A request that was counted, or was one too many. */
export interface CountedRequest extends RateWindow {
  readonly isAllowed: boolean;
  /** Until the window ends, above zero. */
  readonly resetsInMs: number;
}

/**
 * Counts requests of keys in windows of a minute, each beginning with the first request in it. Counts live in this process and
 * end with it. A key's limit is given with each call, so that a changed one rules at once; requests refused under the old
 * limit stay counted until the window ends.
 */
export interface RateLimiter {
  /** Counts one request. Of requests at the same time no more than the limit are allowed. */
  take(key: KeyId, perMinute: number): Promise<CountedRequest>;
  /** What `take` would find; counts nothing. */
  peek(key: KeyId, perMinute: number): Promise<RateWindow>;
}
