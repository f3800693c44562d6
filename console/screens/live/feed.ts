import type { Role } from "../../api/session.ts";
import { type ListedTask, readTasks } from "../tasks/list.ts";

/** Which tasks are watched; the address has the same names. */
export interface Filters {
  readonly model: string;
  /** Id or name. For operators. */
  readonly account: string;
}

/** A task as it stands, and when that was told. */
export interface Row {
  readonly task: ListedTask;
  /** Unix seconds. */
  readonly at: number;
}

/** What is shown of a feed at one moment. */
export interface View {
  /** The latest change first. */
  readonly rows: readonly Row[];
  readonly pending: number;
  readonly processing: number;
  /** Whether these are all that are under way: of very many, only some were there to read at the beginning. */
  readonly isWhole: boolean;
  /** What ended since the feed began. */
  readonly ends: Readonly<Record<End, number>>;
  /** What that was charged, in millionths of a dollar. */
  readonly chargedMicros: number;
  /** Grows with each change that is told. */
  readonly changes: number;
}

type End = Exclude<ListedTask["status"], "pending" | "processing">;

/** Tasks as lists have them at one moment. */
export interface Past {
  readonly tasks: readonly ListedTask[];
  /** Whether all that are under way are among them. */
  readonly isWhole: boolean;
}

/** A look at the past that is under way: ids of tasks that a stream told of meanwhile, which is newer. */
type Look = ReadonlySet<string>;

/** As many as somebody can look at. */
const MOST_ROWS = 100;
/** Ends that are known to be counted. A stream tells of each once, and of those around a break it may tell again. */
const MOST_KNOWN = 1_000;

/** Tasks as a stream tells of them, and how many there are. What it holds does not grow with time. */
export function createFeed(filters: Filters) {
  let rows: readonly Row[] = [];
  let isWhole = true;
  let changes = 0;
  let told: Set<string> | undefined;
  const tally = createTally();
  return {
    /** What the stream told of a task. @param at Unix seconds */
    tell(task: ListedTask, at: number): void {
      told?.add(task.task_id);
      if (!fits(task, filters)) return;
      changes += 1;
      tally.note(task, true);
      rows = [{ task, at }, ...rows.filter((row) => row.task.task_id !== task.task_id)].slice(0, MOST_ROWS);
    },
    /** Before the past is read. @returns what to give with it */
    look(): Look {
      told = new Set();
      return told;
    },
    /** Takes in what lists say, but for what the stream knows better. */
    past(look: Look, { tasks, isWhole: hasAll }: Past): void {
      if (look !== told) return;
      told = undefined;
      isWhole = hasAll;
      const fresh = new Map(tasks.map((task) => [task.task_id, task]));
      for (const id of look) fresh.delete(id);
      // What was under way and is in no list has ended unseen, or was deleted.
      const isGone = (id: string) => hasAll && !look.has(id) && !fresh.has(id);
      tally.drop(isGone);
      for (const task of fresh.values()) tally.note(task, false);
      const before = new Map(rows.map((row) => [row.task.task_id, row]));
      const kept = rows.filter(
        ({ task }) => !fresh.has(task.task_id) && !(isLive(task) && isGone(task.task_id)),
      );
      rows = [...kept, ...[...fresh.values()].map((task) => rowOf(task, before.get(task.task_id)))]
        .sort((one, other) => other.at - one.at || (one.task.task_id < other.task.task_id ? 1 : -1))
        .slice(0, MOST_ROWS);
    },
    /** When the past could not be read. */
    forget(look: Look): void {
      if (look === told) told = undefined;
    },
    view: (): View => ({ rows, isWhole, changes, ...tally.counts() }),
  };
}

function createTally() {
  let chargedMicros = 0;
  const ends = { completed: 0, failed: 0, cancelled: 0 };
  const known = new Set<string>();
  const live = { pending: new Set<string>(), processing: new Set<string>() };
  return {
    /** @param isNews whether its end, if it has ended, is no older than the tally */
    note({ task_id: id, status, usage }: ListedTask, isNews: boolean): void {
      const wasPending = live.pending.delete(id);
      const wasLive = live.processing.delete(id) || wasPending;
      if (status === "pending" || status === "processing") {
        live[status].add(id);
        return;
      }
      if ((isNews || wasLive) && !known.has(id)) {
        ends[status] += 1;
        chargedMicros += Math.round(Number(usage?.cost ?? 0) * 1e6);
      }
      known.add(id);
      const [oldest = ""] = known;
      if (known.size > MOST_KNOWN) known.delete(oldest);
    },
    /** Forgets those that were under way and are no more. */
    drop(isGone: (id: string) => boolean): void {
      for (const ids of Object.values(live)) for (const id of ids) if (isGone(id)) ids.delete(id);
    },
    counts: (): Pick<View, "ends" | "chargedMicros" | "pending" | "processing"> => ({
      ...{ ends: { ...ends }, chargedMicros },
      ...{ pending: live.pending.size, processing: live.processing.size },
    }),
  };
}

function isLive({ status }: ListedTask): boolean {
  return status === "pending" || status === "processing";
}

function rowOf(task: ListedTask, before: Row | undefined): Row {
  // It did not change: the time that the stream told is more exact.
  if (before?.task.status === task.status) return { task, at: before.at };
  return { task, at: task.completed_at ?? task.created_at };
}

function fits({ model, account }: ListedTask, filters: Filters): boolean {
  return (
    (filters.model === "" || filters.model === model) &&
    (filters.account === "" || filters.account === account?.id || filters.account === account?.name)
  );
}

/** Rows in the order in which they were, each as it stands now. */
export function inPlace(held: readonly Row[], rows: readonly Row[]): readonly Row[] {
  const now = new Map(rows.map((row) => [row.task.task_id, row]));
  return held.map((row) => now.get(row.task.task_id) ?? row);
}

const RANK = { pending: 0, processing: 1, completed: 2, failed: 2, cancelled: 2 } as const;

/** What is under way, and what was asked for last. @throws ApiProblem */
export async function readPast(role: Role, filters: Filters, signal: AbortSignal): Promise<Past> {
  const read = (status: string) => readTasks(role, { ...filters, status, kind: "" }, undefined, signal);
  const [processing, pending, latest] = await Promise.all([read("processing"), read("pending"), read("")]);
  const tasks = new Map<string, ListedTask>();
  for (const task of [...pending.tasks, ...processing.tasks, ...latest.tasks]) {
    const other = tasks.get(task.task_id);
    // One that went on between the reads stands as the later one says.
    if (other === undefined || RANK[other.status] <= RANK[task.status]) tasks.set(task.task_id, task);
  }
  return { tasks: [...tasks.values()], isWhole: processing.next === null && pending.next === null };
}
