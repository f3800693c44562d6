import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { Reply } from "./reply.ts";

/** What keeps a connection: an event stream, or a call that waits for its answer. */
export type StayKind = "streams" | "waits";

/** How many may stay at once. */
export interface StayLimits {
  readonly perKey: Readonly<Record<StayKind, number>>;
  readonly perAccount: Readonly<Record<StayKind, number>>;
  /** All together. The rest of the process's descriptors is for requests that are answered at once. */
  readonly total: number;
}

/** One account leaves a quarter of all places to others. */
const MOST_OF_ONE = 3 / 4;
const RETRY_AFTER_SEC = 5;

/** Takes a place, or refuses. @returns what gives the place back */
export type Stays = (kind: StayKind, who: Pick<Principal, "keyId" | "accountId">) => () => void;

/** Counts the connections that stay. @throws AppError `rate_limit_exceeded`, or `service_unavailable` where all places are taken */
export function createStays(limits: StayLimits): Stays {
  const counts = new Map<string, number>();
  const accountTotal = Math.max(1, Math.floor(limits.total * MOST_OF_ONE));
  let total = 0;

  function add(names: readonly string[], change: number): void {
    total += change;
    for (const name of names) {
      const count = (counts.get(name) ?? 0) + change;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    }
  }

  return (kind, { keyId, accountId }) => {
    const [ofKey, ofAccount] = [`${kind} ${keyId}`, `${kind} ${accountId}`];
    const refuse = (whose: "key" | "account", most: number) =>
      new AppError(
        "rate_limit_exceeded",
        { kind: "too_many_stays", whose, what: kind, most, retryAfterSec: RETRY_AFTER_SEC },
        { retryAfterSec: RETRY_AFTER_SEC },
      );
    const { perKey, perAccount } = limits;
    if ((counts.get(ofKey) ?? 0) >= perKey[kind]) throw refuse("key", perKey[kind]);
    if ((counts.get(ofAccount) ?? 0) >= perAccount[kind]) throw refuse("account", perAccount[kind]);
    if (total >= limits.total || (counts.get(accountId) ?? 0) >= accountTotal) {
      const facts = { kind: "too_many_connections", retryAfterSec: RETRY_AFTER_SEC } as const;
      throw new AppError("service_unavailable", facts, { retryAfterSec: RETRY_AFTER_SEC, shouldRetry: true });
    }
    const names = [ofKey, ofAccount, accountId];
    add(names, 1);
    let isHere = true;
    return () => {
      if (isHere) add(names, -1);
      isHere = false;
    };
  };
}

/** Runs `work`, and gives the place back when its answer is made; where that is made while it is read, when the reading has ended. */
export async function whileStaying(leave: () => void, work: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    const reply = await work();
    if (reply.over === undefined) leave();
    else void reply.over.then(leave);
    return reply;
  } catch (error) {
    leave();
    throw error;
  }
}
