import type { KeyId, TaskId } from "../../../domain/ids.ts";
import type { Clock, PreviewFeed, TaskFeed } from "../../../domain/ports/runtime.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { Preview } from "../../../domain/task/preview.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";

/** A call that draws, for as long as its task is not over: also once its caller has left. */
export interface RunningCall {
  readonly taskId: TaskId;
  /** What its caller calls it; absent where it has no name. */
  readonly name?: string | undefined;
  readonly job: "txt2img" | "img2img" | "extras";
  readonly steps: number;
  /** How many times that server would draw for it. */
  readonly times: number;
  /** Milliseconds on the clock that never jumps. */
  readonly startedAt: number;
  /** Epoch milliseconds. */
  readonly begunAt: number;
  /** The latest that was shown. */
  preview?: Preview | undefined;
}

interface OfKey {
  readonly running: Map<TaskId, Followed>;
  /** Names of calls that are over, the latest last. */
  readonly finished: string[];
  /** Whether nothing was begun or made since the last interruption. */
  wasInterrupted: boolean;
  wasSkipped: boolean;
}

const UNMARKED = { wasInterrupted: false, wasSkipped: false };

export interface CallsDeps {
  readonly tasks: Pick<TaskStore, "summary">;
  readonly previews: PreviewFeed;
  readonly feed: Pick<TaskFeed, "subscribe">;
  readonly clock: Pick<Clock, "now" | "elapsed">;
}

/** As many as that server remembers. */
const MOST_FINISHED = 16;
/** Calls of one key that are followed; of more, the oldest are forgotten, which run on all the same. */
const MOST_RUNNING = 256;

/** The calls of each key that run in this process: what `progress`, `interrupt` and `skip` are about. */
export function createCalls(deps: CallsDeps) {
  const keys = new Map<KeyId, OfKey>();
  const ofKey = (key: KeyId): OfKey => {
    const known = keys.get(key) ?? { running: new Map(), finished: [], ...UNMARKED };
    keys.set(key, known);
    return known;
  };
  return {
    begin(key: KeyId, call: Omit<RunningCall, "startedAt" | "begunAt" | "preview">): void {
      const known = ofKey(key);
      const before = known.running.get(call.taskId);
      before?.stop();
      const [oldest] = known.running.keys();
      if (known.running.size >= MOST_RUNNING && oldest !== undefined) end(known, oldest);
      const leave = () => end(known, call.taskId);
      known.running.set(call.taskId, follow(deps, { ...call, ...timesOf(deps, before) }, leave));
      Object.assign(known, UNMARKED);
    },
    /** @param isMade whether there are pictures */
    end(key: KeyId, id: TaskId, isMade: boolean): void {
      end(ofKey(key), id);
      if (isMade) Object.assign(ofKey(key), UNMARKED);
    },
    /** Calls that are not over, oldest first, and their tasks. */
    async running(key: KeyId): Promise<{ readonly call: RunningCall; readonly task: TaskSummary }[]> {
      const known = keys.get(key);
      const found = await Promise.all(
        [...(known?.running.values() ?? [])].map(async (call) => ({
          call,
          task: await deps.tasks.summary(call.taskId),
        })),
      );
      return found.flatMap(({ call, task }) => {
        if (task !== undefined && !isTerminal(task.status)) return [{ call, task }];
        if (known !== undefined) end(known, call.taskId);
        return [];
      });
    },
    /** Records that the running calls are being ended. */
    mark: (key: KeyId, how: keyof typeof UNMARKED) => void Object.assign(ofKey(key), { [how]: true }),
    stateOf: (key: KeyId): Pick<OfKey, "wasInterrupted" | "wasSkipped" | "finished"> =>
      keys.get(key) ?? { ...UNMARKED, finished: [] },
    elapsed: () => deps.clock.elapsed(),
  };
}
export type Calls = ReturnType<typeof createCalls>;

type Followed = RunningCall & { stop(): void };

/**
 * Keeps the latest early version of a call's pictures, up to the end of its task. The caller may have left by then, and nobody asks
 * for it any more.
 */
function follow({ previews, feed }: CallsDeps, call: RunningCall, onOver: () => void): Followed {
  const stops = [
    previews.subscribe(call.taskId, (preview) => {
      followed.preview = preview;
    }),
    feed.subscribe(call.taskId, (isOver) => {
      if (isOver) onOver();
    }),
  ];
  const followed: Followed = { ...call, stop: () => stops.forEach((stop) => void stop()) };
  return followed;
}

/** A call that joins a task goes on with it. */
function timesOf(
  { clock }: CallsDeps,
  before: RunningCall | undefined,
): Pick<RunningCall, "startedAt" | "begunAt"> {
  return { startedAt: before?.startedAt ?? clock.elapsed(), begunAt: before?.begunAt ?? clock.now() };
}

function end({ running, finished }: OfKey, id: TaskId): void {
  const call = running.get(id);
  if (call === undefined) return;
  call.stop();
  running.delete(id);
  if (call.name === undefined) return;
  finished.push(call.name);
  if (finished.length > MOST_FINISHED) finished.shift();
}
