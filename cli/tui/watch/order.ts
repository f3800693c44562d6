import type { WatchedTask } from "./task.ts";

export const TABS = ["all", "pending", "processing", "completed", "failed", "cancelled"] as const;
export type Tab = (typeof TABS)[number];

export const SORTS = ["newest", "oldest", "longest", "dearest", "model"] as const;
export type Sort = (typeof SORTS)[number];

type Compare = (a: WatchedTask, b: WatchedTask) => number;

/** Ids ascend with time, which decides between tasks of the same second. */
const newest: Compare = (a, b) => b.createdAt - a.createdAt || compareText(b.id, a.id);
const timeOf = ({ createdAt, completedAt }: WatchedTask) =>
  completedAt === undefined ? 0 : completedAt - createdAt;
const costOf = ({ cost = "" }: WatchedTask) => Number.parseFloat(cost) || 0;

const COMPARE: Readonly<Record<Sort, Compare>> = {
  newest,
  oldest: (a, b) => newest(b, a),
  longest: (a, b) => timeOf(b) - timeOf(a) || newest(a, b),
  dearest: (a, b) => costOf(b) - costOf(a) || newest(a, b),
  model: (a, b) => compareText(a.model, b.model) || newest(a, b),
};

/** What is shown of all tasks, and in which order. */
export interface Choice {
  readonly tab: Tab;
  /** Words that a task must have, each of them, somewhere. */
  readonly search: string;
  readonly sort: Sort;
}

/** Ids of the tasks that are shown, in their order. */
export function orderOf(tasks: Iterable<WatchedTask>, { tab, search, sort }: Choice): string[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return [...tasks]
    .filter((task) => (tab === "all" || task.status === tab) && has(task, words))
    .sort(COMPARE[sort])
    .map(({ id }) => id);
}

/** Whether a task that is known already may change without another order. */
export function isOrderKept({ tab, search, sort }: Choice): boolean {
  return tab === "all" && search === "" && (sort === "newest" || sort === "oldest" || sort === "model");
}

export function countTabs(tasks: Iterable<WatchedTask>): Record<Tab, number> {
  const counts = { all: 0, pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const { status } of tasks) {
    counts.all++;
    const tab = TABS.find((each) => each === status);
    if (tab !== undefined) counts[tab]++;
  }
  return counts;
}

function has({ id, kind, model, status, note, account }: WatchedTask, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${id} ${kind} ${model} ${status} ${account} ${note}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
