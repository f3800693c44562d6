import { isJsonObject } from "../../src/domain/json.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { parseBody, type TaskView, taskOf } from "./answer.ts";
import { followEvents, type ServerEvent } from "./event-source.ts";
import { interrupted, type Timing } from "./retry.ts";
import type { TaskPage, TaskSource } from "./task-source.ts";

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
  /** Reads only tasks that have not ended, and tells them as they come, of what is read at once the oldest first. Ignored with `ids`. */
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
  onRead(await (options.onlyLive === true ? readLive(options) : readLatest(options)));
}

/** Reads tasks, newest first. @returns why the older ones cannot be read */
async function readLatest(options: FeedOptions): Promise<string | undefined> {
  const take = (tasks: readonly TaskView[]) => options.onTasks(tasks, false);
  const first = await firstPage(options);
  take(first.tasks);
  return await readOlder(options, first, take);
}

/** Reads tasks that have not ended. Where a page of each status is all, as mostly, they are in order. @returns the same */
async function readLive(options: FeedOptions): Promise<string | undefined> {
  const take = (tasks: readonly TaskView[]) =>
    options.onTasks(
      tasks.toSorted((a, b) => (a.task_id < b.task_id ? -1 : 1)),
      false,
    );
  // In this order, a task that moves on in between may be in neither list, but its change is told.
  const processing = await firstPage(options, "processing");
  const pending = await firstPage(options, "pending");
  take([...processing.tasks, ...pending.tasks]);
  const problem = await readOlder(options, processing, take, "processing");
  return problem ?? (await readOlder(options, pending, take, "pending"));
}

/** Without it there is nothing to look at. */
async function firstPage({ source, signal }: FeedOptions, status?: string): Promise<TaskPage> {
  const page = await source.page(undefined, status);
  if (signal.aborted) throw interrupted();
  return page;
}

/** Reads what comes after the first page. @returns why it cannot be read */
async function readOlder(
  { source, most, signal }: FeedOptions,
  first: TaskPage,
  take: (tasks: readonly TaskView[]) => void,
  status?: string,
): Promise<string | undefined> {
  let read = first.tasks.length;
  for (let after = first.next; after !== null && read < most; ) {
    const page = await source.page(after, status).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof Failure)) throw error;
      return error;
    });
    if (signal.aborted) throw interrupted();
    if (page instanceof Failure) return `Older tasks cannot be read: ${page.message}`;
    take(page.tasks);
    read += page.tasks.length;
    after = page.next;
  }
  return undefined;
}

function taskIn({ data }: ServerEvent): TaskView {
  const view = parseBody(data);
  if (!isJsonObject(view)) throw unexpectedAnswer("The server sends an event that cannot be read.");
  return taskOf(view);
}
