import { eq, sql } from "drizzle-orm";
import { type Callback, type CallbackSend, placeOf } from "../../../domain/callback/callback.ts";
import type { AccountId, CallbackId } from "../../../domain/ids.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../../domain/limits.ts";
import type { CallbackClaim, SendLimits } from "../../../domain/ports/callback-store.ts";
import type { Connection } from "../connection.ts";
import { callback, toCallback } from "./callback-table.ts";

/** Most callbacks that one claim moves from `waiting` to `ready`, so that many that are due at once do not delay others. */
export const PROMOTED_AT_ONCE = 500;

/** A callback that is ready to be sent. */
export interface Ready {
  readonly id: CallbackId;
  readonly host: string;
  readonly attempts: number;
  readonly most: number;
  readonly redeliver: 0 | 1;
}

/**
 * The body of `CallbackStore.claim`. It seeks the next account, and the next host within it, in the index of ready callbacks. That
 * is a seek or two for each send, and one for each account or host without room, of which there are never more than sends under
 * way. The cost does not depend on how many callbacks wait.
 */
export function prepareClaim(connection: Connection): (query: CallbackClaim) => CallbackSend[] {
  const pools = preparePools(connection);
  const take = prepareTake(connection);
  // The account and the hosts that had the last turn. The turns start again after a restart.
  let lastAccount = "" as AccountId;
  const lastHosts = new Map<AccountId, string>();

  /** @returns undefined when nothing of the account may be sent */
  function takeNextOf(account: AccountId, query: CallbackClaim, room: Room): CallbackSend | undefined {
    while (room.hasForAccount(account)) {
      const last = lastHosts.get(account) ?? "";
      const ready = pools.firstFreeAfter(account, room, last) ?? pools.firstFreeAfter(account, room, "");
      if (ready === undefined) break;
      lastHosts.set(account, ready.host);
      if (ready.redeliver === 0 && ready.attempts >= ready.most) {
        pools.giveUp(ready.id);
        continue;
      }
      const send = take(ready, query.now, query.now + query.leaseMs);
      room.use(send.callback);
      return send;
    }
    return undefined;
  }

  return (query) => {
    pools.promote(query.now, PROMOTED_AT_ONCE);
    const room = createRoom(query.limits, query.underWay);
    const sends: CallbackSend[] = [];
    // Accounts that have reached their limit. They stay so, because sends under way only increase during a claim.
    const idle = new Set<AccountId>();
    for (let skipped = 0; room.hasAny() && skipped <= idle.size; ) {
      const account = pools.accountAfter(lastAccount) ?? pools.accountAfter("");
      if (account === undefined) {
        lastHosts.clear();
        break;
      }
      lastAccount = account;
      const send = idle.has(account) ? undefined : takeNextOf(account, query, room);
      if (send === undefined) {
        idle.add(account);
        skipped += 1;
      } else {
        sends.push(send);
        skipped = 0;
      }
    }
    return sends;
  };
}

export type Room = ReturnType<typeof createRoom>;

/** Counts the sends under way against the limits. */
export function createRoom(limits: SendLimits, underWay: Iterable<Callback>) {
  let total = 0;
  const counts = new Map<string, number>();
  const count = (name: string) => counts.get(name) ?? 0;
  const countElsewhere = (send: Pick<Callback, "accountId" | "host">) => {
    for (const name of [send.accountId, placeOf(send)]) counts.set(name, count(name) + 1);
  };
  const use = (callback: Callback) => {
    total += 1;
    countElsewhere(callback);
  };
  for (const callback of underWay) use(callback);
  return {
    hasAny: () => total < limits.total,
    hasForAccount: (account: AccountId) => total < limits.total && count(account) < limits.perAccount,
    hasForHost(accountId: AccountId, host: string): boolean {
      const place = placeOf({ accountId, host });
      return count(place) < (limits.ofPlaces?.get(place) ?? limits.perHost);
    },
    use,
    /** Counts a send of another process, which does not count towards this process's total. */
    countElsewhere,
  };
}

/** Raw statements, each pinned to its partial index: a scan would grow with the table unnoticed. */
function preparePools({ db }: Connection) {
  const anyDue = db.prepare<unknown, [now: number]>(
    "select 1 from callback indexed by callback_waiting where pool = 'waiting' and due_at <= ? limit 1",
  );
  const promote = db.prepare<never, [now: number, limit: number]>(
    `update callback set pool = 'ready' where id in
       (select id from callback indexed by callback_waiting
        where pool = 'waiting' and due_at <= ? order by due_at limit ?)`,
  );
  const accountAfter = db.prepare<{ account_id: AccountId }, [after: string]>(
    `select account_id from callback indexed by callback_ready
     where pool = 'ready' and account_id > ? order by account_id limit 1`,
  );
  const firstOfHostAfter = db.prepare<Ready, [account: string, after: string]>(
    `select id, host, attempts, coalesce(most_attempts, ${MAX_CALLBACK_ATTEMPTS}) as most, redeliver from callback indexed by callback_ready
     where pool = 'ready' and account_id = ? and host > ? order by host, due_at, id limit 1`,
  );
  const giveUp = db.prepare<never, [id: string]>(
    "update callback set state = 'failed', pool = null where id = ? and state = 'pending'",
  );
  return {
    promote(now: number, limit: number): void {
      if (anyDue.get(now) !== null) promote.run(now, limit);
    },
    accountAfter: (account: string) => accountAfter.get(account)?.account_id,
    /** The callback due longest, of the first host after this one with room. */
    firstFreeAfter(account: AccountId, room: Room, host: string): Ready | undefined {
      let ready = firstOfHostAfter.get(account, host);
      while (ready !== null && !room.hasForHost(account, ready.host))
        ready = firstOfHostAfter.get(account, ready.host);
      return ready ?? undefined;
    },
    /** Ends a callback whose last attempt has no outcome and no lease: the process died while sending it. */
    giveUp: (id: CallbackId) => void giveUp.run(id),
  };
}

/** Returns a function that counts a send of a callback before it leaves, and returns what to send. */
function prepareTake({ db, orm }: Connection) {
  // A redelivery does not change the time of the next attempt.
  const take = orm
    .update(callback)
    .set({
      sends: sql`${callback.sends} + 1`,
      attempts: sql`${callback.attempts} + (1 - ${callback.redeliver})`,
      dueAt: sql`case ${callback.redeliver} when 1 then ${callback.dueAt} else ${sql.placeholder("until")} end`,
      pool: sql`case ${callback.state} when 'pending' then 'waiting' end`,
      redeliver: false,
    })
    .where(eq(callback.id, sql.placeholder("id")))
    .returning()
    .prepare();
  const begin = db.prepare(
    "insert into callback_attempt (callback_id, sequence, is_redelivery, started_at) values (?, ?, ?, ?)",
  );
  return ({ id, redeliver }: Ready, now: number, until: number): CallbackSend => {
    const row = take.get({ id, until });
    begin.run(id, row.sends, redeliver, now);
    return { callback: toCallback(row), sequence: row.sends, isRedelivery: redeliver === 1 };
  };
}
