import type { Clock } from "../../domain/ports/runtime.ts";
import { orAborted } from "../../toolkit/deadline.ts";

/** A token, and until when it is used. */
export interface Token {
  readonly text: string;
  readonly untilMs: number;
}

/** One token for all requests of an account. */
export interface Tokens {
  /** The token in use; a new one where there is none or it is about to end. @throws what minting throws, or the signal's reason */
  current(signal: AbortSignal): Promise<string>;
  /**
   * Drops the token in use, if it is the one that the upstream has refused.
   *
   * @returns whether another token may be accepted: it had been in use for a while, or was replaced meanwhile
   */
  forget(isRefused: (text: string) => boolean): boolean;
}

/** One that is refused so soon after it was minted is not refused because it has ended. */
const FRESH_MS = 10_000;

/** A token that is being minted for those who wait for it. */
interface Pending {
  readonly token: Promise<Token>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Concurrent requests wait for the same token. A request that gives up does not end the wait of others; when the last one gives up,
 * the minting stops.
 */
export function createTokens(clock: Clock, mint: (signal: AbortSignal) => Promise<Token>): Tokens {
  let token: Token | undefined;
  let pending: Pending | undefined;
  let mintedAt = clock.elapsed();

  function begin(): Pending {
    const stop = new AbortController();
    const begun: Pending = { stop, waiting: 0, token: mint(stop.signal) };
    const end = (minted?: Token) => {
      if (pending !== begun) return;
      pending = undefined;
      token = minted;
      if (minted !== undefined) mintedAt = clock.elapsed();
    };
    begun.token.then(end, () => end());
    return begun;
  }

  return {
    async current(signal) {
      if (token !== undefined && clock.now() < token.untilMs) return token.text;
      pending ??= begin();
      const own = pending;
      own.waiting += 1;
      try {
        return (await orAborted(own.token, signal)).text;
      } finally {
        own.waiting -= 1;
        if (own.waiting === 0 && pending === own) {
          pending = undefined;
          own.stop.abort();
        }
      }
    },
    forget(isRefused) {
      if (token !== undefined && !isRefused(token.text)) return true;
      token = undefined;
      return clock.elapsed() - mintedAt >= FRESH_MS;
    },
  };
}
