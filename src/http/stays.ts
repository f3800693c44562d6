import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { AppError } from "../domain/errors.ts";
import type { OpenStays } from "../domain/overview.ts";
import type { Reply } from "./reply.ts";

/** The kinds of connections that stay open: an event stream, or a call that waits for its answer. */
export type StayKind = keyof OpenStays;

/** How many connections may stay open at once. */
export interface StayLimits {
  readonly perKey: Readonly<Record<StayKind, number>>;
  readonly perAccount: Readonly<Record<StayKind, number>>;
  /** The limit for all together. The other descriptors of the process are for requests that are answered at once. */
  readonly total: number;
}

/** One account leaves a quarter of all places to others. */
const MOST_OF_ONE = 3 / 4;
const RETRY_AFTER_SEC = 5;

/** The owner of a place: a key and its account, or a management token, which may have as many as a key. */
type Staying = Pick<Principal, "keyId" | "accountId"> | Pick<Operator, "tokenId">;

export interface Stays {
  /** Takes a place, or refuses. @returns a function that gives the place back */
  (kind: StayKind, who: Staying): () => void;
  /** How many places are taken. */
  readonly open: Readonly<OpenStays>;
}

/** Counts the connections that stay. @throws AppError `rate_limit_exceeded`, or `service_unavailable` if all places are taken */
export function createStays(limits: StayLimits): Stays {
  const counts = new Map<string, number>();
  const accountTotal = Math.max(1, Math.floor(limits.total * MOST_OF_ONE));
  const open = { streams: 0, waits: 0 };

  function add(kind: StayKind, names: readonly string[], change: number): void {
    open[kind] += change;
    for (const name of names) {
      const count = (counts.get(name) ?? 0) + change;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    }
  }

  function take(kind: StayKind, who: Staying): () => void {
    const owners = ownersOf(limits, kind, who);
    for (const { whose, id, most } of owners) {
      if ((counts.get(`${kind} ${id}`) ?? 0) < most) continue;
      const facts = {
        kind: "too_many_stays",
        whose,
        what: kind,
        most,
        retryAfterSec: RETRY_AFTER_SEC,
      } as const;
      throw new AppError("rate_limit_exceeded", facts, { retryAfterSec: RETRY_AFTER_SEC });
    }
    const whole = "tokenId" in who ? who.tokenId : who.accountId;
    if (open.streams + open.waits >= limits.total || (counts.get(whole) ?? 0) >= accountTotal) {
      const facts = { kind: "too_many_connections", retryAfterSec: RETRY_AFTER_SEC } as const;
      throw new AppError("service_unavailable", facts, { retryAfterSec: RETRY_AFTER_SEC, shouldRetry: true });
    }
    const names = [...owners.map(({ id }) => `${kind} ${id}`), whole];
    add(kind, names, 1);
    let isHere = true;
    return () => {
      if (isHere) add(kind, names, -1);
      isHere = false;
    };
  }
  return Object.assign(take, { open });
}

function ownersOf({ perKey, perAccount }: StayLimits, kind: StayKind, who: Staying) {
  if ("tokenId" in who) return [{ whose: "token", id: who.tokenId, most: perKey[kind] }] as const;
  return [
    { whose: "key", id: who.keyId, most: perKey[kind] },
    { whose: "account", id: who.accountId, most: perAccount[kind] },
  ] as const;
}

/**
 * Runs `work`, and gives the place back when its answer is made. If the answer is made on demand, gives it back when the
 * reading has ended.
 */
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
