import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { AppError } from "../domain/errors.ts";
import type { OpenStays } from "../domain/overview.ts";
import type { Reply } from "./reply.ts";

/** What keeps a connection: an event stream, or a call that waits for its answer. */
export type StayKind = keyof OpenStays;

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

/** Whose places are counted: a key's and its account's, or a management token's, which has as many as a key. */
type Staying = Pick<Principal, "keyId" | "accountId"> | Pick<Operator, "tokenId">;

export interface Stays {
  /** Takes a place, or refuses. @returns what gives the place back */
  (kind: StayKind, who: Staying): () => void;
  /** How many places are taken. */
  readonly open: Readonly<OpenStays>;
}

/** Counts the connections that stay. @throws AppError `rate_limit_exceeded`, or `service_unavailable` where all places are taken */
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
