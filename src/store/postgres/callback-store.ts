import type { Act } from "../../domain/access/actor.ts";
import type { Callback } from "../../domain/callback/callback.ts";
import { MAX_CALLBACK_REDELIVERIES } from "../../domain/limits.ts";
import type { OwedCallbacks } from "../../domain/overview.ts";
import type { CallbackFilter, CallbackStore } from "../../domain/ports/callback-store.ts";
import { givenUpSince } from "../sqlite/callback-store/given-up.ts";
import { redelivered } from "../sqlite/callback-store.ts";
import { createClaim } from "./callback-store/claim.ts";
import { managedCallbacks } from "./callback-store/managed.ts";
import { createOwnSends } from "./callback-store/own-sends.ts";
import { attemptsOf, findCallback, listCallbacks, unfinishedSends } from "./callback-store/reads.ts";
import { recordSend } from "./callback-store/record.ts";
import type { Connection } from "./connection.ts";
import { type Session, statement } from "./session.ts";
import { writeTrail } from "./trail.ts";

// The answer always has a row. An answer without rows would be requested again to prove it.
const NEXT_DUE = statement<{ due_at: number | null }>(
  "select (select due_at from callback where pool = 'waiting' order by due_at limit 1) as due_at",
);
const ANY_DUE = statement<unknown, [now: number]>(
  `(select 1 as found from callback where pool = 'ready' limit 1) union all
   (select 1 from callback where pool = 'waiting' and due_at <= $1 limit 1) limit 1`,
);
const ASK = statement<never, [id: string, most: number]>(
  "update callback set redeliver = 1, pool = 'ready' where id = $1 and sends - attempts < $2",
);
const GIVEN_UP = statement<{ count: number }, [among: number, since: number]>(
  givenUpSince("callback", "$1", "$2"),
);
// Each pool has an index of its own.
const waitingIn = (pool: string) =>
  `select count(*) as count, min(created_at) as oldest from callback where pool = '${pool}'`;
const OWED = statement<{ count: number; oldest: number | null }>(
  `select sum(count)::bigint as count, min(oldest) / 1000 * 1000 as oldest
   from (${waitingIn("ready")} union all ${waitingIn("waiting")}) as pools`,
);

/** Callbacks in PostgreSQL, which several processes send. */
export function createCallbackStore(connection: Connection): CallbackStore {
  const { read, writeFor } = connection;
  const own = createOwnSends();

  async function owed(session: Session): Promise<OwedCallbacks> {
    const { count, oldest } = (await OWED.get(session)) ?? { count: 0, oldest: null };
    return { count, oldestAt: oldest ?? undefined };
  }

  return {
    claim: createClaim(connection, own),
    async record(send, delivery, at, retryAt) {
      const { accountId } = send.callback;
      await writeFor(accountId, (session) => recordSend(session, send, delivery, at, retryAt), {
        isOwed: true,
      });
      own.ended(send);
    },
    unfinished: (begunBefore) => read((session) => unfinishedSends(session, begunBefore)),
    hasDue: (now) => read(async (session) => (await ANY_DUE.get(session, now)) !== undefined),
    nextDueAt: () => read(async (session) => (await NEXT_DUE.get(session))?.due_at ?? undefined),
    redeliver: (filter, act) => writeFor(filter.accountId, (session) => redeliver(session, filter, act)),
    byId: (id) => read((session) => findCallback(session, id)),
    list: (filter) => read((session) => listCallbacks(session, filter)),
    managedCallbacks: (filter) => read((session) => managedCallbacks(session, filter)),
    givenUp: (since, among) =>
      read(async (session) => (await GIVEN_UP.get(session, among, since))?.count ?? 0),
    owed: () => read(owed),
    owedCount: () => read(async (session) => (await owed(session)).count),
    attempts: (id) => read((session) => attemptsOf(session, id)),
  };
}

async function redeliver(
  session: Session,
  filter: CallbackFilter,
  act: Act | undefined,
): Promise<Callback[]> {
  const asked: Callback[] = [];
  for (const callback of await listCallbacks(session, filter)) {
    const isGranted = (await ASK.run(session, callback.id, MAX_CALLBACK_REDELIVERIES)) === 1;
    if (isGranted && !callback.isRedeliveryDue) await writeTrail(session, act, redelivered(callback));
    asked.push({ ...callback, isRedeliveryDue: isGranted });
  }
  return asked;
}
