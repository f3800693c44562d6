import { isJsonObject } from "../../src/domain/json.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { parseBody, type TaskView, taskOf } from "./answer.ts";
import { followEvents, type ServerEvent } from "./event-source.ts";
import { interrupted, type Timing } from "./retry.ts";
import type { TaskSource } from "./task-source.ts";

/** What a feed tells. */
export interface FeedListener {
  /** The present state of tasks. `isEvent`: they have just changed; otherwise they were read, and a change may have come earlier. */
  onTasks(tasks: readonly TaskView[], isEvent: boolean): void;
  /** All tasks that are wanted have been read, or `problem` says why the older ones have not. */
  onRead(problem?: string): void;
  onLive(): void;
  onTrouble(message: string): void;
}

export interface FeedOptions extends FeedListener {
  readonly source: TaskSource;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Only these tasks; absent: all. */
  readonly ids?: readonly string[] | undefined;
  /** How many of the latest tasks are read at most. Ignored with `ids`. */
  readonly most: number;
  /** Reads only tasks that have not ended, and tells them at once, the oldest first. Ignored with `ids`. */
  readonly onlyLive?: boolean;
}

/**
 * Reads tasks and then tells every change, through interruptions and restarts of the server.
 *
 * @throws Failure when the first connection cannot be made, when the server refuses for good, or when the signal ends it
 */
export async function followTasks(options: FeedOptions): Promise<never> {
  const { source, timing, signal, ids } = options;
  const wanted = ids === undefined ? undefined : new Set(ids);
  const failed = Promise.withResolvers<never>();
  let isFirst = true;
  const following = followEvents({
    open: source.events,
    timing,
    signal,
    // Changes are received from before the reading on, so that none is missed in between.
    onOpen() {
      options.onLive();
      if (isFirst) readAll(options).catch(failed.reject);
      isFirst = false;
    },
    onTrouble: ({ failure }) => options.onTrouble(failure.message),
    async take(event) {
      const task = taskIn(event);
      if (wanted === undefined || wanted.has(task.task_id)) options.onTasks([task], true);
    },
  });
  return await Promise.race([following, failed.promise]);
}

async function readAll(options: FeedOptions): Promise<void> {
  const { source, ids, onTasks, onRead } = options;
  if (ids !== undefined) {
    for (const id of ids) onTasks([await source.story(id)], false);
    onRead();
    return;
  }
  if (options.onlyLive !== true) return onRead(await readLatest(options, (tasks) => onTasks(tasks, false)));
  const live: TaskView[] = [];
  const keep = (tasks: readonly TaskView[]) => void live.push(...tasks);
  // In this order, a task that moves on in between may be in neither list, but its change is told.
  const problem = await readLatest(options, keep, "processing");
  const problems = [problem, await readLatest(options, keep, "pending")];
  live.sort((a, b) => (a.task_id < b.task_id ? -1 : 1));
  onTasks(live, false);
  onRead(problems.find((each) => each !== undefined));
}

/** Reads tasks, newest first. @returns why the older ones cannot be read */
async function readLatest(
  { source, most, signal }: FeedOptions,
  take: (tasks: readonly TaskView[]) => void,
  status?: string,
): Promise<string | undefined> {
  let read = 0;
  for (let after: string | undefined; read < most; ) {
    // Without the first page there is nothing to look at. Without an older one there is.
    const page = await source.page(after, status).catch((error: unknown) => {
      if (read === 0 || signal.aborted || !(error instanceof Failure)) throw error;
      return error;
    });
    if (signal.aborted) throw interrupted();
    if (page instanceof Failure) return `Older tasks cannot be read: ${page.message}`;
    take(page.tasks);
    read += page.tasks.length;
    if (page.next === null) return undefined;
    after = page.next;
  }
  return undefined;
}

function taskIn({ data }: ServerEvent): TaskView {
  const view = parseBody(data);
  if (!isJsonObject(view)) throw unexpectedAnswer("The server sends an event that cannot be read.");
  return taskOf(view);
}
