import { setTimeout as delay } from "node:timers/promises";
import { LONGEST_TIMER_MS } from "../../src/toolkit/longest-timer.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";

/** Time for the client. Tests bring their own. */
export interface Timing {
  /** Milliseconds on a clock that never jumps. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  random: () => Math.random(),
  async sleep(ms, signal) {
    try {
      let leftMs = ms;
      do {
        await delay(Math.min(leftMs, LONGEST_TIMER_MS), undefined, { signal });
        leftMs -= LONGEST_TIMER_MS;
      } while (leftMs > 0);
    } catch (error) {
      throw signal.aborted ? interrupted() : error;
    }
  },
};

/** Why an exchange failed, and whether another try may succeed. */
export interface Trouble {
  readonly failure: Failure;
  /** `no`: another try fails too. `seldom`: nobody answered. `yes`: the failure may be transient. */
  readonly retry: "no" | "seldom" | "yes";
  /** The delay that the server asked for. */
  readonly retryAfterMs?: number | undefined;
}

/** The result of one try. */
export type Attempt<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Trouble);

export interface RetryOptions {
  readonly timing: Timing;
  readonly signal: AbortSignal;
  readonly onRetry?: ((trouble: Trouble, delayMs: number) => void) | undefined;
}

const MAX_TRIES = { yes: 6, seldom: 3 } as const;
const MAX_ELAPSED_MS = 60_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;

/**
 * Runs `attempt` until it succeeds, at most six times and for about a minute. Waits with exponential backoff and jitter, or as long
 * as the server asks.
 *
 * @throws Failure of the last try
 */
export async function withRetries<T>(
  attempt: () => Promise<Attempt<T>>,
  { timing, signal, onRetry }: RetryOptions,
): Promise<T> {
  const startedAt = timing.now();
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result.ok) return result.value;
    if (signal.aborted) throw interrupted();
    if (result.retry === "no" || tries >= MAX_TRIES[result.retry]) throw result.failure;
    const delayMs = result.retryAfterMs ?? backoffMs(tries, timing.random());
    if (timing.now() - startedAt + delayMs > MAX_ELAPSED_MS) throw result.failure;
    onRetry?.(result, delayMs);
    await timing.sleep(delayMs, signal);
  }
}

/** Half to all of a delay that doubles each time. */
export function backoffMs(tries: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
  return Math.round(full * (0.5 + random / 2));
}

/** Whether a later retry is useless. A failing server may recover in a moment; a refusal stays a refusal. */
export function isForGood({ retry, failure }: Trouble): boolean {
  const status = failure.more?.status;
  return retry === "no" && !(typeof status === "number" && status >= 500);
}

export function interrupted(): Failure {
  return new Failure(EXIT.interrupted, "interrupted", "Interrupted.");
}
