import type { Operator } from "../domain/access/actor.ts";
import type { TokenId } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/** How accurately the last use of a token is known. A write for each request would cost more than most requests. */
const EVERY_MS = 60_000;

/**
 * Returns a function that records the use of a management token without waiting. A use that could not be stored is stored at
 * the next use.
 */
export function createNoteTokenUse({
  accounts,
  clock,
}: {
  readonly accounts: Pick<AccountStore, "tokenUsed">;
  readonly clock: Pick<Clock, "now">;
}): (operator: Operator) => void {
  const noted = new Map<TokenId, number>();
  return ({ tokenId }) => {
    const now = clock.now();
    const last = noted.get(tokenId);
    if (last !== undefined && last <= now && now - last < EVERY_MS) return;
    noted.set(tokenId, now);
    accounts.tokenUsed(tokenId, now).catch(() => void noted.delete(tokenId));
  };
}
