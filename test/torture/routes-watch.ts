import type { AttemptId, LaneId, TaskId } from "../../src/domain/ids.ts";
import { type RouteStore, type RouteTrouble, WHOLE_ACCOUNT } from "../../src/domain/ports/route-store.ts";
import type { Findings } from "./findings.ts";
import type { Reaction } from "./routes-answers.ts";
import { LANES, laneOf } from "./routes-plan.ts";
import { CONCURRENCY, isEnded, type Job } from "./routes-upstream.ts";
import { STARTS_AT, type World } from "./time-world.ts";

/** One submission. */
export interface Sent {
  readonly lane: LaneId;
  readonly task: TaskId;
  readonly attempt: AttemptId;
}

/** What is known of a task from outside. */
export interface TaskSeen {
  readonly createdAt: number;
  /** Whether the account that is always well can do it. */
  readonly isAble: boolean;
  ends: number;
  endedAt?: number;
  begunAt?: number;
  /** Since when it could be sent, and is not. */
  freeAt: number | undefined;
  /** The steady account had room then, and had not been tried. */
  couldMove: boolean;
  readonly lanes: LaneId[];
  /** It was refused for its content. */
  isModerated: boolean;
  /** What became of it is not known at an upstream that cannot be asked. */
  isLost: boolean;
}

interface Trouble extends Pick<RouteTrouble, "kind" | "lane" | "upstreamModel" | "until"> {
  readonly setAt: number;
  probe?: { readonly attempt: AttemptId; readonly at: number } | undefined;
}

export type RoutesWatch = ReturnType<typeof createRoutesWatch>;

/** Whatever becomes of the task that tries a way, the next one may after this time. */
const PROBE_MS = 120_000;
/** What an earlier process had rest is tried so soon after a start, unless it is spent. */
const AT_A_START_MS = 30_000;
/** Faults in a row after which a way has to be left alone. */
const FAULTS = 5;
const ASKED = new Map(LANES.map((place) => [laneOf(place), place.isAsked || place.isSafe]));

/** Watches what goes to upstreams and what the service notes of its ways, and tells what must not happen. */
export function createRoutesWatch(deps: {
  readonly world: World;
  readonly steady: LaneId | undefined;
  readonly findings: Findings;
}) {
  const { world, steady, findings } = deps;
  const tasks = new Map<TaskId, TaskSeen>();
  const underWay = new Map<LaneId, Set<TaskId>>(LANES.map((place) => [laneOf(place), new Set()]));
  let troubles = new Map<string, Trouble>();
  /** Faults in a row, by account, of which one task counts once, and when the latest was told. */
  const faults = new Map<LaneId, { count: number; at: number; task: TaskId }>();
  const counts = { submissions: 0, failedOver: 0, opened: 0, refused: 0, probes: 0, tests: 0 };
  const added: number[] = [];
  const waited: number[] = [];
  /** Since when the steady account has had room, with the service running. */
  let roomSince: number | undefined = 0;

  const now = () => world.trueMs();
  const say = (text: string) => findings.add(`at ${inSeconds(now())} ${text}`);
  const troublesOf = (lane: LaneId) => [...troubles.values()].filter((each) => each.lane === lane);
  function seen(task: TaskId): TaskSeen {
    const known = tasks.get(task);
    if (known === undefined) throw new Error(`Nothing is known of ${task}.`);
    return known;
  }

  function look(): void {
    const hasRoom = steady !== undefined && (underWay.get(steady)?.size ?? 0) < CONCURRENCY;
    roomSince = hasRoom ? (roomSince ?? now()) : undefined;
  }

  function leaveLane(task: TaskId): void {
    for (const there of underWay.values()) there.delete(task);
    look();
  }

  /** The task is not with any upstream, and may go elsewhere. */
  function freed(id: TaskId): void {
    leaveLane(id);
    const task = seen(id);
    task.freeAt = now();
    task.couldMove =
      steady !== undefined && task.isAble && roomSince !== undefined && !task.lanes.includes(steady);
  }

  function checkStanding({ lane, task, attempt }: Sent): void {
    for (const trouble of troublesOf(lane)) {
      const { kind, until = Number.POSITIVE_INFINITY, setAt } = trouble;
      // It was on its way at that moment.
      if (setAt === now()) continue;
      if (STARTS_AT + now() < until)
        say(`${task} is sent to ${lane}, which is ${kind} since ${inSeconds(setAt)}`);
      const { probe } = trouble;
      const isTried = probe !== undefined && now() < probe.at + PROBE_MS;
      if (isTried && probe.attempt !== attempt)
        say(`${task} is sent to ${lane}, which is ${kind} and tried by ${probe.attempt} already`);
      trouble.probe = { attempt, at: now() };
      counts.probes += 1;
    }
    const known = faults.get(lane);
    if (known !== undefined && known.count >= FAULTS && known.at < now() && troublesOf(lane).length === 0)
      say(`${task} is sent to ${lane} after ${known.count} faults in a row`);
  }

  return {
    counts,
    tasks: tasks as ReadonlyMap<TaskId, TaskSeen>,
    /** Milliseconds that failing over to the steady account, or past it, has added. */
    added: added as readonly number[],
    /** Milliseconds that tasks waited while the steady account had room for them. */
    waited: waited as readonly number[],
    freed,
    created(id: TaskId, isAble: boolean): void {
      tasks.set(id, {
        ...{ createdAt: now(), isAble, ends: 0, freeAt: now(), couldMove: false },
        ...{ lanes: [], isModerated: false, isLost: false },
      });
    },
    /** @param known jobs of the same task at upstreams, and whether this very attempt is one that it must not get twice */
    submitted(sent: Sent, known: { readonly others: readonly Job[]; readonly isKnown: boolean }): void {
      const { lane, task: id, attempt } = sent;
      counts.submissions += 1;
      const task = seen(id);
      if (task.ends > 0) say(`${id} is sent to ${lane} after its end`);
      if (known.isKnown) say(`${id} is sent to ${lane} again as ${attempt}, which it has taken`);
      for (const job of known.others)
        if (!isEnded(job, now()))
          say(`${id} is sent to ${lane} while ${job.lane} has taken it as ${job.attempt}`);
      checkStanding(sent);
      if (task.freeAt !== undefined) {
        if (task.couldMove) added.push(now() - task.freeAt);
        if (task.isAble && roomSince !== undefined) waited.push(now() - Math.max(task.freeAt, roomSince));
      }
      if (task.lanes.length > 0 && task.lanes.at(-1) !== lane) counts.failedOver += 1;
      task.begunAt ??= now();
      task.freeAt = undefined;
      task.lanes.push(lane);
      leaveLane(id);
      underWay.get(lane)?.add(id);
      // Whether anybody hears the answer is not known yet.
      if (ASKED.get(lane) !== true) task.isLost = true;
      look();
    },
    answered({ lane, task: id, attempt }: Sent, reaction: Reaction): void {
      const task = seen(id);
      const isRefused = reaction.trouble !== undefined;
      if (isRefused)
        for (const each of troublesOf(lane)) if (each.probe?.attempt === attempt) each.probe = undefined;
      if (!reaction.isLost) task.isLost = false;
      if (reaction.isModeration === true) task.isModerated = true;
      if (!isRefused || reaction.isModeration === true) faults.delete(lane);
      if (reaction.isFault === true) {
        const before = faults.get(lane);
        if (before?.task !== id) faults.set(lane, { count: (before?.count ?? 0) + 1, at: now(), task: id });
      }
      if (isRefused && !reaction.isLost) freed(id);
    },
    /** The service is told that a job ended without output. */
    jobFailed({ task, failure }: Job): void {
      if (failure?.kind === "failed" && failure.code === "CONTENT_MODERATED") seen(task).isModerated = true;
      freed(task);
    },
    tested(): void {
      counts.tests += 1;
    },
    ended(id: TaskId): void {
      const task = seen(id);
      task.ends += 1;
      task.endedAt ??= now();
      leaveLane(id);
    },
    /** A process begins or ends. */
    restarted(isRunning: boolean): void {
      faults.clear();
      for (const trouble of troubles.values()) trouble.probe = undefined;
      roomSince = undefined;
      if (!isRunning) return;
      look();
      for (const task of tasks.values()) {
        // What was heard before is not what holds it up now.
        if (task.freeAt !== undefined) task.freeAt = now();
        task.couldMove = false;
      }
    },
    /** Sees what the service notes of its ways. */
    watchRoutes(routes: RouteStore): RouteStore {
      return {
        async troubles() {
          const all = await routes.troubles();
          const latest = STARTS_AT + now() + AT_A_START_MS;
          troubles = new Map(
            all.map((each) => {
              const until = each.until && (each.kind === "spent" ? each.until : Math.min(each.until, latest));
              return [keyOf(each), { ...each, until, setAt: Number.NaN }];
            }),
          );
          return all;
        },
        changedTroubles: (at) => routes.changedTroubles(at),
        set(trouble) {
          troubles.set(keyOf(trouble), { ...trouble, setAt: now() });
          faults.delete(trouble.lane);
          if (trouble.times === 1) counts[trouble.kind === "open" ? "opened" : "refused"] += 1;
          return routes.set(trouble);
        },
        clear(route) {
          troubles.delete(keyOf(route));
          faults.delete(route.lane);
          return routes.clear(route);
        },
      };
    },
    /** What is wrong with an account in the end, by what the service notes. */
    troublesOf,
  };
}

function inSeconds(ms: number): string {
  return Number.isNaN(ms) ? "an earlier process" : `${(ms / 1000).toFixed(3)} s`;
}

function keyOf({ lane, upstreamModel }: Pick<RouteTrouble, "lane" | "upstreamModel">): string {
  return upstreamModel === WHOLE_ACCOUNT ? lane : `${lane} ${upstreamModel}`;
}
