import type { Database } from "bun:sqlite";
import type { TaskId } from "../../domain/ids.ts";
import type { LongestDelays, Moved, TimeStore } from "../../domain/ports/time-store.ts";
import type { Connection } from "./connection.ts";
import { CANCELS_LATER, LIVE } from "./task-store/task-table.ts";

/** The stored times of live work in SQLite. Each write is one operation of the connection's group commit. */
export function createTimeStore({ db, look, write }: Connection): TimeStore {
  const live = db.prepare(`select 1 from task indexed by task_live where ${LIVE} limit 1`);
  // A task that began after the last beat also shows that the service worked.
  const last = db.prepare<{ at: number | null }, []>(
    `select max(at) as at from (select at from heartbeat union all select started_at from task indexed by task_live where ${LIVE})`,
  );
  const note = db.prepare<never, [at: number]>(
    "insert into heartbeat (id, at) values (1, ?) on conflict (id) do update set at = excluded.at",
  );
  // A task without an attempt has no deadline. Times before its first attempt were never part of it.
  const extend = db.prepare<never, [at: number, lostSince: number]>(
    `update task indexed by task_live set deadline_at = deadline_at + (?1 - max(?2, coalesce(started_at, ?2)))
     where ${LIVE} and deadline_at is not null and coalesce(started_at, 0) < ?1`,
  );
  const deadline = db.prepare<{ deadline_at: number | null }, [id: string]>(
    "select deadline_at from task where id = ?",
  );
  const move = prepareMove(db);
  const hurry = prepareHurry(db);
  return {
    hasLiveTasks: async () => look(() => live.get() !== null),
    lastBeat: async () => look(() => last.get()?.at ?? undefined),
    beat: (at, lostSince) =>
      write(() => {
        note.run(at);
        return lostSince === undefined ? 0 : extend.run(at, lostSince).changes;
      }),
    // The clock has jumped already, and writes by it follow.
    move: (byMs) => write(() => move(byMs), { isOwed: true }),
    hurry: (now, longest) => write(() => hurry(now, longest)),
    // As a write, so that it comes after those that move deadlines.
    deadlineOf: (id: TaskId) => write(() => deadline.get(id)?.deadline_at ?? undefined),
  };
}

/** Returns the body of `TimeStore.move`. */
function prepareMove(db: Database) {
  const heartbeat = db.prepare<never, [byMs: number]>("update heartbeat set at = at + ?");
  const tasks = db.prepare<never, [byMs: number]>(
    `update task indexed by task_live
     set due_at = due_at + ?1, started_at = started_at + ?1, deadline_at = deadline_at + ?1 where ${LIVE}`,
  );
  const cancels = db.prepare<never, [byMs: number]>(
    `update task indexed by task_cancels_later
     set request = json_set(request, '$.cancelAt', json_extract(request, '$.cancelAt') + ?)
     where ${CANCELS_LATER} and json_extract(request, '$.cancelAt') is not null`,
  );
  const attempts = db.prepare<never, [byMs: number]>(
    `update attempt set started_at = started_at + ?1, accepted_at = accepted_at + ?1, made_at = made_at + ?1
     where ended_at is null and task_number in (select number from task indexed by task_live where ${LIVE})`,
  );
  const callbacks = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<never, [byMs: number]>(
      `update callback indexed by callback_${pool} set due_at = due_at + ? where pool = '${pool}'`,
    ),
  );
  return (byMs: number): Moved => {
    heartbeat.run(byMs);
    attempts.run(byMs);
    cancels.run(byMs);
    const moved = callbacks.map((ofPool) => ofPool.run(byMs).changes);
    return { tasks: tasks.run(byMs).changes, callbacks: moved.reduce((sum, count) => sum + count, 0) };
  };
}

/** Returns the body of `TimeStore.hurry`. */
function prepareHurry(db: Database) {
  const tasks = db.prepare<never, [now: number, latest: number]>(
    `update task indexed by task_live set due_at = ?1, pool = case pool when 'waiting' then 'ready' else pool end
     where ${LIVE} and lease_token is null and due_at > ?2`,
  );
  const callbacks = db.prepare<never, [now: number, latest: number]>(
    "update callback set due_at = ?1 where pool = 'waiting' and due_at > ?2",
  );
  return (now: number, { taskMs, callbackMs }: LongestDelays): Moved => ({
    tasks: tasks.run(now, now + taskMs).changes,
    callbacks: callbacks.run(now, now + callbackMs).changes,
  });
}
