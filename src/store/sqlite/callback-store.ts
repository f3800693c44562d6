import type { Database } from "bun:sqlite";
import type { Act } from "../../domain/access/actor.ts";
import type { TrailNote } from "../../domain/access/trail.ts";
import type { Callback } from "../../domain/callback/callback.ts";
import { MAX_CALLBACK_REDELIVERIES } from "../../domain/limits.ts";
import type { OwedCallbacks } from "../../domain/overview.ts";
import type { CallbackFilter, CallbackStore } from "../../domain/ports/callback-store.ts";
import { prepareBacklog } from "./backlog.ts";
import { prepareClaim } from "./callback-store/claim.ts";
import { prepareGivenUp } from "./callback-store/given-up.ts";
import { prepareLists } from "./callback-store/lists.ts";
import { prepareManagedCallbacks } from "./callback-store/managed.ts";
import { prepareReads } from "./callback-store/reads.ts";
import { prepareRecord } from "./callback-store/record.ts";
import type { Connection } from "./connection.ts";
import { prepareTrail } from "./trail.ts";

/** Callbacks in SQLite. Each write is one operation of the connection's group commit. */
export function createCallbackStore(connection: Connection): CallbackStore {
  const { db, read, look, write } = connection;
  const lists = prepareLists(db);
  const reads = prepareReads(connection, lists);
  const managed = prepareManagedCallbacks(db, lists, reads);
  const trail = prepareTrail(db);
  const givenUp = prepareGivenUp(db);
  const claim = prepareClaim(connection);
  const record = prepareRecord(connection);
  const nextDue = db.prepare<{ due_at: number }, []>(
    "select due_at from callback indexed by callback_waiting where pool = 'waiting' order by due_at limit 1",
  );
  const anyDue = db.prepare<unknown, [now: number]>(
    `select 1 from callback indexed by callback_ready where pool = 'ready'
     union all select 1 from callback indexed by callback_waiting where pool = 'waiting' and due_at <= ? limit 1`,
  );
  const ask = db.prepare<never, [id: string, most: number]>(
    "update callback set redeliver = 1, pool = 'ready' where id = ? and sends - attempts < ?",
  );

  const owed = prepareBacklog(db, {
    table: "callback",
    pools: { ready: "callback_ready", waiting: "callback_waiting" },
    group: () => "'owed'",
  });

  function readOwed(): OwedCallbacks {
    const [all] = owed();
    return { count: all?.count ?? 0, oldestAt: all && all.oldestSec * 1000 };
  }

  const countOwed = prepareCountOwed(db);

  function redeliver(filter: CallbackFilter, act: Act | undefined): Callback[] {
    return reads.list(filter).map((callback) => {
      const { changes } = ask.run(callback.id, MAX_CALLBACK_REDELIVERIES);
      if (changes === 1 && !callback.isRedeliveryDue) trail(act, redelivered(callback));
      return { ...callback, isRedeliveryDue: changes === 1 };
    });
  }

  return {
    claim: (query) => write(() => claim(query)),
    record: (send, delivery, at, retryAt) =>
      write(() => record(send, delivery, at, retryAt), { isOwed: true }),
    unfinished: async (begunBefore) => look(() => reads.unfinished(begunBefore)),
    hasDue: async (now) => look(() => anyDue.get(now) !== null),
    nextDueAt: async () => look(() => nextDue.get()?.due_at),
    redeliver: (filter, act) => write(() => redeliver(filter, act)),
    byId: async (id) => read(() => reads.byId(id)),
    list: async (filter) => read(() => reads.list(filter)),
    managedCallbacks: async (filter) => read(() => managed(filter)),
    givenUp: async (since, among) => read(() => givenUp(since, among)),
    owed: async () => read(readOwed),
    owedCount: async () => look(countOwed),
    attempts: async (id) => read(() => reads.attempts(id)),
  };
}

/** Returns the body of `CallbackStore.owedCount`. */
function prepareCountOwed(db: Database): () => number {
  const count = db.prepare<{ count: number }, []>(
    `select (select count(*) from callback indexed by callback_ready where pool = 'ready')
          + (select count(*) from callback indexed by callback_waiting where pool = 'waiting') as count`,
  );
  return () => count.get()?.count ?? 0;
}

/** The trail's record of a requested redelivery. */
export function redelivered({ id, taskId }: Callback): TrailNote {
  return { action: "callback.redeliver", object: { kind: "callback", id }, after: { task_id: taskId } };
}
