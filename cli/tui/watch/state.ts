import type { StoryView } from "../../client/story.ts";
import { windowStart } from "../kit/window.ts";
import { type Choice, countTabs, isOrderKept, orderOf, SORTS, type Sort, TABS, type Tab } from "./order.ts";
import { BAR_SEC, barsOf, NO_PACE, type Pace, withEnds } from "./pace.ts";
import { laterOf, type WatchedTask } from "./task.ts";

/** What a person is asked before it is done. */
export interface Question {
  readonly verb: "cancel" | "retry";
  readonly id: string;
}

/** What is known of the task in the detail pane beyond the table. */
export interface Detail {
  readonly id: string;
  readonly story?: StoryView | undefined;
  /** Lines of half blocks. */
  readonly picture?: readonly string[] | undefined;
  readonly problem?: string | undefined;
}

export interface WatchState extends Choice {
  /** Whether tasks of several accounts are shown, to an operator. */
  readonly isOfAll: boolean;
  readonly tasks: ReadonlyMap<string, WatchedTask>;
  /** Ids of the tasks that are shown, in their order. */
  readonly order: readonly string[];
  readonly counts: Readonly<Record<Tab, number>>;
  readonly pace: Pace;
  /** Absent: the first row, whichever that is. */
  readonly selectedId: string | undefined;
  /** Index of the first row on the screen. */
  readonly start: number;
  /** Rows on the screen. */
  readonly height: number;
  readonly isDetail: boolean;
  readonly detailStart: number;
  readonly detail: Detail | undefined;
  readonly isHelp: boolean;
  readonly isSearching: boolean;
  readonly question: Question | undefined;
  readonly notice: { readonly text: string; readonly isBad: boolean } | undefined;
  /** Why there is no connection to the server at present. */
  readonly trouble: string | undefined;
  /** Whether all tasks that are wanted have been read. */
  readonly isRead: boolean;
  readonly spentToday: string | undefined;
  readonly nowMs: number;
}

export type WatchEvent =
  | { readonly kind: "tasks"; readonly tasks: readonly WatchedTask[]; readonly isEvent: boolean }
  | { readonly kind: "read"; readonly problem?: string }
  | { readonly kind: "tick"; readonly nowMs: number }
  | { readonly kind: "live" }
  | { readonly kind: "trouble"; readonly message: string }
  | { readonly kind: "spent"; readonly amount: string }
  | { readonly kind: "detail"; readonly detail: Detail }
  | { readonly kind: "notice"; readonly text: string; readonly isBad?: boolean }
  | { readonly kind: "resize"; readonly height: number }
  | { readonly kind: "move"; readonly by: number }
  | { readonly kind: "scroll"; readonly by: number }
  | { readonly kind: "tab"; readonly tab: Tab }
  | { readonly kind: "nextTab"; readonly by: number }
  | { readonly kind: "sort" }
  | { readonly kind: "search"; readonly text: string; readonly isSearching: boolean }
  | { readonly kind: "open"; readonly isOpen: boolean }
  | { readonly kind: "help"; readonly isShown: boolean }
  | { readonly kind: "ask"; readonly question: Question | undefined };

export function initialState(nowMs: number, isOfAll = false): WatchState {
  return {
    isOfAll,
    ...{ tab: "all", search: "", sort: "newest" },
    tasks: new Map(),
    order: [],
    counts: countTabs([]),
    pace: NO_PACE,
    ...{ selectedId: undefined, start: 0, height: 1 },
    ...{ isDetail: false, detailStart: 0, detail: undefined },
    ...{ isHelp: false, isSearching: false, question: undefined, notice: undefined },
    ...{ trouble: undefined, isRead: false, spentToday: undefined, nowMs },
  };
}

export function selectedTask(state: WatchState): WatchedTask | undefined {
  return state.tasks.get(state.order[selectedIndex(state)] ?? "");
}

export function selectedIndex({ order, selectedId }: WatchState): number {
  return selectedId === undefined ? 0 : Math.max(0, order.indexOf(selectedId));
}

/** @returns the same object when nothing changed that is to be seen */
export function reduce(state: WatchState, event: WatchEvent): WatchState {
  switch (event.kind) {
    case "tasks":
      return withTasks(state, event.tasks, event.isEvent);
    case "tick":
      return isTickSeen(state, event.nowMs) ? { ...state, nowMs: event.nowMs } : state;
    case "live":
      return state.trouble === undefined ? state : { ...state, trouble: undefined };
    case "trouble":
      return state.trouble === event.message ? state : { ...state, trouble: event.message };
    case "read":
      return { ...state, isRead: true, notice: noticeOf(event.problem) ?? state.notice };
    case "spent":
      return state.spentToday === event.amount ? state : { ...state, spentToday: event.amount };
    case "detail":
      return { ...state, detail: event.detail };
    case "notice":
      return { ...state, notice: { text: event.text, isBad: event.isBad === true }, question: undefined };
    default:
      return afterHand(state, event);
  }
}

type HandEvent = Exclude<
  WatchEvent,
  { kind: "tasks" | "tick" | "live" | "trouble" | "read" | "spent" | "detail" | "notice" }
>;

/** An action of the person. It ends the previous message. */
function afterHand(given: WatchState, event: HandEvent): WatchState {
  const state = given.notice === undefined ? given : { ...given, notice: undefined };
  switch (event.kind) {
    case "resize":
      return event.height === given.height ? given : inView({ ...given, height: event.height });
    case "move":
      return moved(state, event.by);
    case "scroll":
      return { ...state, detailStart: Math.max(0, state.detailStart + event.by) };
    case "tab":
      return chosen(state, { tab: event.tab });
    case "nextTab":
      return chosen(state, { tab: around(TABS, state.tab, event.by) });
    case "sort":
      return chosen(state, { sort: around(SORTS, state.sort, 1) });
    case "search":
      return { ...chosen(state, { search: event.text }), isSearching: event.isSearching };
    case "open":
      return { ...state, isDetail: event.isOpen, detailStart: 0 };
    case "help":
      return { ...state, isHelp: event.isShown };
    case "ask":
      return { ...state, question: event.question };
  }
}

function withTasks(state: WatchState, read: readonly WatchedTask[], isEvent: boolean): WatchState {
  const tasks = new Map(state.tasks);
  const ended: WatchedTask[] = [];
  let isOrderSame = isOrderKept(state);
  for (const task of read) {
    const known = tasks.get(task.id);
    const later = known === undefined ? task : laterOf(known, task, isEvent);
    if (later === known) continue;
    if (known === undefined) isOrderSame = false;
    if (later.hasEnded && known?.hasEnded !== true) ended.push(later);
    tasks.set(task.id, later);
  }
  if (forgetOldest(tasks)) isOrderSame = false;
  const order = isOrderSame ? state.order : orderOf(tasks.values(), state);
  // A listing brings the newest first, and the latest durations are the most useful.
  const pace = withEnds(state.pace, isEvent ? ended : ended.toReversed());
  return inView({ ...state, tasks, order, counts: countTabs(tasks.values()), pace });
}

/** A watch may go on for weeks: of more tasks than this, the oldest that have ended are left out. */
export const MOST_TASKS = 20_000;

/** @returns whether there were too many */
function forgetOldest(tasks: Map<string, WatchedTask>): boolean {
  if (tasks.size <= MOST_TASKS) return false;
  const ended = [...tasks.values()].filter(({ hasEnded }) => hasEnded).map(({ id }) => id);
  // Ids begin with their time. A few more than needed, so that not every change has to look for some.
  for (const id of ended.toSorted().slice(0, tasks.size - MOST_TASKS * 0.9)) tasks.delete(id);
  return true;
}

function chosen(state: WatchState, choice: Partial<Choice>): WatchState {
  const next = { ...state, ...choice };
  const order = orderOf(next.tasks.values(), next);
  const isStillThere = next.selectedId !== undefined && order.includes(next.selectedId);
  return inView({ ...next, order, selectedId: isStillThere ? next.selectedId : undefined, start: 0 });
}

function moved(state: WatchState, by: number): WatchState {
  const last = state.order.length - 1;
  const index = Math.max(0, Math.min(last, selectedIndex(state) + by));
  // From the first row on, the screen follows the newest task.
  const selectedId = index === 0 ? undefined : state.order[index];
  return inView({ ...state, selectedId, detailStart: 0 });
}

/** Keeps the selected row on the screen. */
function inView(state: WatchState): WatchState {
  const { order, height, start } = state;
  return {
    ...state,
    start: windowStart({ count: order.length, height, selected: selectedIndex(state), start }),
  };
}

/** Time shows in rows of tasks that still run, and moves the bars. */
function isTickSeen(state: WatchState, nowMs: number): boolean {
  const { order, start, height, tasks, pace } = state;
  const isRunning = (id: string) => tasks.get(id)?.hasEnded === false;
  if (order.slice(start, start + height).some(isRunning)) return nowMs !== state.nowMs;
  const barOf = (ms: number) => Math.floor(ms / 1000 / BAR_SEC);
  return barOf(nowMs) !== barOf(state.nowMs) && barsOf(pace, state.nowMs).some((count) => count > 0);
}

function noticeOf(problem: string | undefined): WatchState["notice"] {
  return problem === undefined ? undefined : { text: problem, isBad: true };
}

function around<T extends Tab | Sort>(all: readonly T[], now: T, by: number): T {
  return all[(all.indexOf(now) + by + all.length) % all.length] ?? now;
}
