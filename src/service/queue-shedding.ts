import { AppError } from "../domain/errors.ts";
import type { AccountId, LaneId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";
import type { OwnReady } from "../domain/overview.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { isTooLong, queueRetrySec } from "../domain/shedding.ts";

export interface QueueSheddingDeps {
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly tally: Pick<Tally, "shed">;
  readonly tasks: Pick<TaskStore, "ownReady">;
  /** What this process knows about the tasks that wait for each lane, and about those that began. */
  readonly loads: {
    queued(lane: LaneId): number;
    begun(lane: LaneId): number;
  };
  /** Most tasks of the lane that may be under way. */
  readonly capacityOf: (lane: LaneId) => number | undefined;
  /** How long an account's oldest task may wait; the model's deadline unless given. */
  readonly mostWaitMs: () => number | undefined;
}

/** How long an answer of the store is reused. */
const KNOWN_MS = 250;
/** Most tasks of an account that are counted. In a lane that begins this many within the longest wait, only the age matters. */
const MOST_COUNTED = 10_000;
/** A queue is no longer too long after nothing was refused for this time. */
const OVER_MS = 5_000;

/** What the store knew about an account's tasks, and how many creates have been let through since. */
type Own = { -readonly [Name in keyof OwnReady]: OwnReady[Name] };

interface Asked {
  readonly lane: LaneId;
  readonly accountId: AccountId;
  readonly model: Pick<Model, "id" | "deadlineMs">;
}

/** Refuses creates of callers whose tasks already wait too long. */
export type QueueShedding = ReturnType<typeof createQueueShedding>;

export function createQueueShedding(deps: QueueSheddingDeps) {
  const { clock, loads } = deps;
  const rates = createStartRates(deps);
  const long = createLongLanes(deps);
  const ownOf = createOwnCounts(deps);
  let worksSince = clock.elapsed();

  /** @throws AppError `service_unavailable` */
  function judge({ lane, model }: Asked, own: Own): void {
    // A night in which the service was stopped, or a day that the clock was set ahead, says nothing of the queue.
    const worksMs = clock.elapsed() - worksSince;
    const waitedMs = own.oldestAt === undefined ? 0 : Math.min(clock.now() - own.oldestAt, worksMs);
    const mostWaitMs = deps.mostWaitMs() ?? model.deadlineMs;
    const queue = { count: own.count, perSecond: rates.read(lane), waitedMs, mostWaitMs };
    // Without a configured limit, a batch may be of any size until its first task is late.
    const isForeseen = deps.mostWaitMs() !== undefined;
    if (!isTooLong(isForeseen ? queue : { ...queue, perSecond: undefined })) {
      // Until it is counted anew.
      own.count += 1;
      return;
    }
    long.note(lane, { queued: own.count, waited_s: Math.round(waitedMs / 1000) });
    const retryAfterSec = queueRetrySec(queue);
    const facts = {
      kind: "queue_too_long",
      model: model.id,
      limitSec: mostWaitMs / 1000,
      retryAfterSec,
    } as const;
    throw new AppError("service_unavailable", facts, { retryAfterSec, shouldRetry: true });
  }

  return {
    /** The lanes whose creates are refused. */
    lanes: long.lanes,
    /** The service could not work for a while, or its clock was set: waits count from now on. */
    interrupted(): void {
      worksSince = clock.elapsed();
    },
    /**
     * Resolves for a create that may continue. Creates of an account whose tasks get their turns continue, however long another
     * account's queue is.
     *
     * @returns undefined if the store need not be asked: the lane has no more waiting tasks than it can run at one time, or the
     * account's tasks were counted a moment ago
     * @throws AppError `service_unavailable`
     */
    check(asked: Asked): Promise<void> | undefined {
      const { lane } = asked;
      if (loads.queued(lane) <= (deps.capacityOf(lane) ?? 0)) return undefined;
      rates.note(lane);
      const own = ownOf(lane, asked.accountId);
      if (own instanceof Promise) return own.then((counted) => judge(asked, counted));
      judge(asked, own);
      return undefined;
    },
  };
}

/** Counts an account's tasks that wait for a lane, at most a few times a second. */
function createOwnCounts({ clock, tasks }: Pick<QueueSheddingDeps, "clock" | "tasks">) {
  let known = new Map<string, Own | Promise<Own>>();
  let knownUntil = 0;
  return (lane: LaneId, accountId: AccountId): Own | Promise<Own> => {
    const now = clock.elapsed();
    if (now >= knownUntil) {
      known = new Map();
      knownUntil = now + KNOWN_MS;
    }
    const counts = known;
    const name = `${lane} ${accountId}`;
    return counts.getOrInsertComputed(name, async () => {
      const own = { ...(await tasks.ownReady(lane, accountId, MOST_COUNTED)) };
      counts.set(name, own);
      return own;
    });
  };
}

/** Logs for each lane when the first create is refused, and when none was refused for a while. */
function createLongLanes({ clock, log, tally }: Pick<QueueSheddingDeps, "clock" | "log" | "tally">) {
  /** When a create of the lane was last refused, and how often. */
  const long = new Map<LaneId, { lastAt: number; refused: number }>();

  function look(lane: LaneId): void {
    const state = long.get(lane);
    if (state === undefined) return;
    const quietMs = clock.elapsed() - state.lastAt;
    if (quietMs < OVER_MS) return void clock.after(OVER_MS - quietMs, () => look(lane));
    long.delete(lane);
    log.info({ provider: lane, refused: state.refused }, "the queue is no longer too long");
  }

  function note(lane: LaneId, fields: { readonly queued: number; readonly waited_s: number }): void {
    tally.shed("queues");
    const state = long.get(lane);
    if (state !== undefined) {
      state.lastAt = clock.elapsed();
      state.refused += 1;
      return;
    }
    long.set(lane, { lastAt: clock.elapsed(), refused: 1 });
    log.warn({ provider: lane, ...fields }, "the queue is too long: creates are refused");
    clock.after(OVER_MS, () => look(lane));
  }

  return { note, lanes: (): LaneId[] => [...long.keys()] };
}

/** How many tasks of each lane begin per second, measured by counts that are at least a second apart. */
function createStartRates({ clock, loads }: Pick<QueueSheddingDeps, "clock" | "loads">) {
  const seen = new Map<LaneId, { at: number; begun: number; perSecond: number | undefined }>();
  return {
    read: (lane: LaneId) => seen.get(lane)?.perSecond,
    note(lane: LaneId): void {
      const [at, begun, last] = [clock.elapsed(), loads.begun(lane), seen.get(lane)];
      if (last === undefined) return void seen.set(lane, { at, begun, perSecond: undefined });
      const seconds = (at - last.at) / 1000;
      if (seconds < 1) return;
      const latest = (begun - last.begun) / seconds;
      seen.set(lane, {
        at,
        begun,
        perSecond: last.perSecond === undefined ? latest : (last.perSecond + latest) / 2,
      });
    },
  };
}
