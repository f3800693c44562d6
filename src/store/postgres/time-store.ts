import type { AccountId, TaskId } from "../../domain/ids.ts";
import type { Moved, TimeStore } from "../../domain/ports/time-store.ts";
import { CANCELS_LATER, LIVE } from "../sqlite/task-store/task-table.ts";
import type { Connection } from "./connection.ts";
import { takeLock } from "./locks.ts";
import { DATABASE_NOW } from "./node-store.ts";
import { type Session, statement } from "./session.ts";

/**
 * Rows of `heartbeat`, by their `id`. Nodes find out by themselves that the clock was set or that time was lost, one after the other,
 * and only the first makes up for it: the others see by these rows that it was done.
 */
const ROW = { beat: 1, madeUpUntil: 2, movedAt: 3, movedBy: 4 } as const;
/** Within this time, nodes that follow the same clock have found out that it was set. */
const SAME_STEP_MS = 30_000;
/** Nodes measure a step of the clock to within this. */
const SAME_LENGTH_MS = 2_000;
/** A node that works beats more often than this: within this time of its last beat, it may be there. */
const BEATS_WITHIN_MS = 7_000;

const IS_LIVE = statement<{ found: 1 }>(`select 1 as found from task where ${LIVE} limit 1`);
// A task that began after the last beat also shows that the service worked.
const LAST_BEAT = statement<{ at: number | null }>(
  `select max(at) as at from (select at from heartbeat where id = ${ROW.beat}
     union all select started_at from task where ${LIVE}) as sign`,
);
const PUT = statement<never, [id: number, at: number]>(
  "insert into heartbeat (id, at) values ($1, $2) on conflict (id) do update set at = excluded.at",
);
const ROW_AT = statement<{ at: number }, [id: number]>("select at from heartbeat where id = $1");
/** Whoever changes rows of several accounts holds these one after the other, in the same order everywhere. */
const HOLD_ACCOUNTS = statement(
  `select number from account where exists (select 1 from task where account_number = account.number and ${LIVE})
   order by number for no key update`,
);
// A task without an attempt has no deadline. Times before its first attempt were never part of it.
const EXTEND = statement<never, [at: number, lostSince: number]>(
  `update task set deadline_at = deadline_at + ($1::bigint - greatest($2::bigint, coalesce(started_at, $2::bigint)))
   where ${LIVE} and deadline_at is not null and coalesce(started_at, 0) < $1::bigint`,
);
const DEADLINE = statement<{ deadline_at: number | null }, [id: string]>(
  "select deadline_at from task where id = $1",
);
const OWNER = statement<{ id: AccountId }, [task: string]>(
  "select account.id from task join account on account.number = account_number where task.id = $1",
);
const NOW = statement<{ now: number }>(`select ${DATABASE_NOW} as now`);
const MOVE_BEAT = statement<never, [byMs: number]>(
  `update heartbeat set at = at + $1 where id in (${ROW.beat}, ${ROW.madeUpUntil})`,
);
const MOVE_TASKS = statement<never, [byMs: number]>(
  `update task set due_at = due_at + $1, started_at = started_at + $1, deadline_at = deadline_at + $1 where ${LIVE}`,
);
const MOVE_ATTEMPTS = statement<never, [byMs: number]>(
  `update attempt set started_at = started_at + $1, accepted_at = accepted_at + $1, made_at = made_at + $1
   where ended_at is null and task_number in (select number from task where ${LIVE})`,
);
// As text: JSON functions of the database fail for texts that are JSON elsewhere.
const MOVE_CANCELS = statement<never, [byMs: number]>(
  `update task set request = replace(request, '"cancelAt":' || found.at, '"cancelAt":' || found.at::bigint + $1::bigint)
   from (select number, substring(request from '"cancelAt":([0-9]+)') as at from task where ${CANCELS_LATER}) as found
   where task.number = found.number and found.at is not null`,
);
const MOVE_CALLBACKS = statement<never, [byMs: number]>(
  "update callback set due_at = due_at + $1 where pool in ('ready', 'waiting')",
);
// What another process works on just now is not waiting.
const HURRY_TASKS = statement<never, [now: number, latest: number]>(
  `update task set due_at = $1::bigint, pool = case pool when 'waiting' then 'ready' else pool end
   where number in (select number from task where ${LIVE} and lease_token is null and due_at > $2::bigint
     order by number for no key update skip locked)`,
);
const HURRY_CALLBACKS = statement<never, [now: number, latest: number]>(
  `update callback set due_at = $1::bigint where id in
     (select id from callback where pool = 'waiting' and due_at > $2::bigint order by id for no key update skip locked)`,
);

/** The stored times of live work in PostgreSQL. */
export function createTimeStore(connection: Connection): TimeStore {
  const { read, write, writeFor, writeInOrder } = connection;
  const beats = prepareBeats();
  return {
    hasLiveTasks: () => read(async (session) => (await IS_LIVE.get(session)) !== undefined),
    lastBeat: () => read(async (session) => (await LAST_BEAT.get(session))?.at ?? undefined),
    async beat(at, lostSince) {
      const count =
        lostSince === undefined
          ? await write(async (session) => {
              await PUT.run(session, ROW.beat, at);
              return 0;
            })
          : await writeInOrder((session) => beats.extend(session, at, lostSince));
      beats.written(at);
      return count;
    },
    // The clock has jumped already, and writes by it follow.
    move: (byMs) => writeInOrder((session) => move(session, byMs), { isOwed: true }),
    hurry: (now, { taskMs, callbackMs }) =>
      write(async (session) => ({
        tasks: await HURRY_TASKS.run(session, now, now + taskMs),
        callbacks: await HURRY_CALLBACKS.run(session, now, now + callbackMs),
      })),
    async deadlineOf(id: TaskId) {
      const owner = await read((session) => OWNER.get(session, id));
      if (owner === undefined) return undefined;
      // As a write, so that it comes after those that move deadlines.
      return writeFor(
        owner.id,
        async (session) => (await DEADLINE.get(session, id))?.deadline_at ?? undefined,
      );
    },
  };
}

/** Makes up for lost time, as far as no other node was there or has made up for it. */
function prepareBeats() {
  /** The last beat of this node. */
  let own: number | undefined;

  /** Until when another node is known to have worked, or to have made up for what all lost. */
  const isOfOther = (sign: { at: number } | undefined): sign is { at: number } =>
    sign !== undefined && sign.at !== own;

  async function extend(session: Session, at: number, lostSince: number): Promise<number> {
    await takeLock(session, "move");
    await HOLD_ACCOUNTS.run(session);
    const beat = await ROW_AT.get(session, ROW.beat);
    const madeUp = await ROW_AT.get(session, ROW.madeUpUntil);
    let since = lostSince;
    if (isOfOther(madeUp)) since = Math.max(since, madeUp.at);
    // A node that beats says with each that it has worked since the one before.
    if (isOfOther(beat)) since = at - beat.at < BEATS_WITHIN_MS ? at : Math.max(since, beat.at);
    since = Math.min(at, since);
    await PUT.run(session, ROW.beat, at);
    if (since === at) return 0;
    await PUT.run(session, ROW.madeUpUntil, at);
    return EXTEND.run(session, at, since);
  }

  return {
    extend,
    written(at: number): void {
      own = at;
    },
  };
}

async function move(session: Session, byMs: number): Promise<Moved> {
  await takeLock(session, "move");
  const { now = 0 } = (await NOW.get(session)) ?? {};
  if (await isMoved(session, byMs, now)) return { tasks: 0, callbacks: 0 };
  await takeLock(session, "claimCallbacks");
  await HOLD_ACCOUNTS.run(session);
  await PUT.run(session, ROW.movedAt, now);
  await PUT.run(session, ROW.movedBy, byMs);
  await MOVE_BEAT.run(session, byMs);
  await MOVE_ATTEMPTS.run(session, byMs);
  await MOVE_CANCELS.run(session, byMs);
  const callbacks = await MOVE_CALLBACKS.run(session, byMs);
  return { tasks: await MOVE_TASKS.run(session, byMs), callbacks };
}

/** Whether another node has moved the times for the same step of the clock. */
async function isMoved(session: Session, byMs: number, now: number): Promise<boolean> {
  const at = await ROW_AT.get(session, ROW.movedAt);
  const by = await ROW_AT.get(session, ROW.movedBy);
  if (at === undefined || by === undefined) return false;
  return Math.abs(now - at.at) < SAME_STEP_MS && Math.abs(byMs - by.at) < SAME_LENGTH_MS;
}
