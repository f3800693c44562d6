import type { CallbackSend } from "../../../domain/callback/callback.ts";
import type { AccountId, CallbackId } from "../../../domain/ids.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../../domain/limits.ts";
import type { CallbackClaim } from "../../../domain/ports/callback-store.ts";
import { callback, toCallback } from "../../sqlite/callback-store/callback-table.ts";
import { createRoom, PROMOTED_AT_ONCE, type Ready, type Room } from "../../sqlite/callback-store/claim.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";
import type { Connection } from "../connection.ts";
import { takeLock } from "../locks.ts";
import { rowOf } from "../row.ts";
import { type Session, statement } from "../session.ts";
import type { OwnSends } from "./own-sends.ts";

// No statement waits for a row, because the holder of a row may itself wait for a row that this claim holds.
const PROMOTE = statement<never, [now: number, limit: number]>(
  `update callback set pool = 'ready' where id in
     (select id from callback where pool = 'waiting' and due_at <= $1 order by due_at limit $2 for update skip locked)`,
);
const ACCOUNT_AFTER = statement<{ account_id: AccountId }, [after: string]>(
  `select account_id from (
     (select account_id from callback where pool = 'ready' and account_id > $1 order by account_id limit 1)
     union all
     (select account_id from callback where pool = 'ready' order by account_id limit 1)
   ) as next limit 1`,
);
const FIRST_OF_HOST_AFTER = statement<Ready, [account: string, after: string]>(
  `select id, host, attempts, coalesce(most_attempts, ${MAX_CALLBACK_ATTEMPTS}) as most, redeliver from callback
   where pool = 'ready' and account_id = $1 and host > $2 order by account_id, host, due_at, id limit 1`,
);
const GIVE_UP = statement<never, [id: string]>(
  `update callback set state = 'failed', pool = null where id =
     (select id from callback where id = $1 and state = 'pending' and pool = 'ready' and redeliver = 0 for update skip locked)`,
);
/** Counts a send of a callback before it leaves. A redelivery does not change the time of the next attempt. */
const TAKE = statement<
  RawRow<typeof callback> & { readonly was_redelivery: 0 | 1 },
  [id: string, until: number, now: number]
>(
  `with free as (select id, redeliver from callback where id = $1 and pool = 'ready' for update skip locked),
   taken as (
     update callback set sends = sends + 1, attempts = attempts + (1 - callback.redeliver),
       due_at = case callback.redeliver when 1 then due_at else $2::bigint end,
       pool = case state when 'pending' then 'waiting' end, redeliver = 0
     from free where callback.id = free.id returning callback.*, free.redeliver as was_redelivery
   ),
   begun as (
     insert into callback_attempt (callback_id, sequence, is_redelivery, started_at)
     select id, sends, was_redelivery, $3::bigint from taken
   )
   select * from taken`,
);

const fields = rowOf(callback);

/**
 * The body of `CallbackStore.claim`, as SQLite has it. Claims of all processes run one after the other. Sends of all processes
 * count towards the limits of an account and of a host; the total counts only this process's sends.
 */
export function createClaim({ write }: Pick<Connection, "write">, own: OwnSends) {
  const takeNextOf = createHostTurns();
  // The account that had the last turn. If a transaction is rolled back, the turns have moved on, which does no harm.
  let lastAccount = "" as AccountId;

  async function claim(session: Session, query: CallbackClaim): Promise<CallbackSend[]> {
    await takeLock(session, "claimCallbacks");
    await PROMOTE.run(session, query.now, PROMOTED_AT_ONCE);
    const room = createRoom(query.limits, query.underWay);
    for (const other of await own.ofOthers(session, query.now - query.leaseMs)) room.countElsewhere(other);
    const sends: CallbackSend[] = [];
    // Accounts that have reached their limit. They stay so, because sends under way only increase during a claim.
    const idle = new Set<AccountId>();
    for (let skipped = 0; room.hasAny() && skipped <= idle.size; ) {
      const account = (await ACCOUNT_AFTER.get(session, lastAccount))?.account_id;
      if (account === undefined) break;
      lastAccount = account;
      const send = idle.has(account) ? undefined : await takeNextOf(session, account, query, room);
      if (send !== undefined) sends.push(send);
      else idle.add(account);
      skipped = send === undefined ? skipped + 1 : 0;
    }
    return sends;
  }

  return async (query: CallbackClaim): Promise<CallbackSend[]> => {
    // The sends under way can be read only once, and the operation may run again.
    const whole = { ...query, underWay: [...query.underWay] };
    const sends = await write((session) => claim(session, whole));
    own.begun(sends);
    return sends;
  };
}

/** How many accounts have their last host remembered. With more accounts, the turns of the others start again. */
const MOST_REMEMBERED = 10_000;

/** Returns a function that takes the next callback of an account. It returns undefined when nothing of the account may be sent. */
function createHostTurns() {
  const lastHosts = new Map<AccountId, string>();

  return async (
    session: Session,
    account: AccountId,
    { now, leaseMs }: CallbackClaim,
    room: Room,
  ): Promise<CallbackSend | undefined> => {
    /** Hosts whose next callback another process is changing right now. */
    const held = new Set<string>();
    const isFree = (host: string) => room.hasForHost(account, host) && !held.has(host);
    while (room.hasForAccount(account)) {
      const last = lastHosts.get(account) ?? "";
      const ready =
        (await firstFreeAfter(session, account, isFree, last)) ??
        (await firstFreeAfter(session, account, isFree, ""));
      if (ready === undefined) break;
      if (lastHosts.size >= MOST_REMEMBERED) lastHosts.clear();
      lastHosts.set(account, ready.host);
      const isOver = ready.redeliver === 0 && ready.attempts >= ready.most;
      const send = isOver ? undefined : await take(session, ready.id, now, now + leaseMs);
      if (send !== undefined) {
        room.use(send.callback);
        return send;
      }
      if (!isOver || (await GIVE_UP.run(session, ready.id)) === 0) held.add(ready.host);
    }
    return undefined;
  };
}

/** The callback due longest, of the first host after this one with room. */
async function firstFreeAfter(
  session: Session,
  account: AccountId,
  isFree: (host: string) => boolean,
  host: string,
): Promise<Ready | undefined> {
  let ready = await FIRST_OF_HOST_AFTER.get(session, account, host);
  while (ready !== undefined && !isFree(ready.host))
    ready = await FIRST_OF_HOST_AFTER.get(session, account, ready.host);
  return ready;
}

/** @returns undefined if another process is changing the callback */
async function take(
  session: Session,
  id: CallbackId,
  now: number,
  until: number,
): Promise<CallbackSend | undefined> {
  const row = await TAKE.get(session, id, until, now);
  if (row === undefined) return undefined;
  return { callback: toCallback(fields(row)), sequence: row.sends, isRedelivery: row.was_redelivery === 1 };
}
