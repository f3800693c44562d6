import { cutText, type Fit, type Fitting, fitColumns, GAP } from "../../format/fit.ts";
import { formatDuration, formatTime } from "../../format/units.ts";
import { fitCells, oneLine } from "../kit/cells.ts";
import { type Pace, secondsLeft } from "./pace.ts";
import type { WatchedTask } from "./task.ts";

/** What a cell may depend on beside its task. */
export interface Moment {
  readonly pace: Pace;
  readonly nowMs: number;
}

interface Column extends Fitting {
  readonly title: string;
  /** Fixed, so that columns stay where they are while tasks come and go. */
  readonly width: number;
  readonly align?: "right";
  readonly cell: (task: WatchedTask, moment: Moment) => string;
}

const BAR_CELLS = 5;

const TASK: Column = { title: "TASK", width: 31, cut: "middle", cell: ({ id }) => id };
/** Narrower tables show the start and the end of ids. */
const NARROW = { below: 110, width: 20 };
const ACCOUNT: Column = { title: "ACCOUNT", width: 18, cut: "end", cell: ({ account }) => account };
const OTHERS: readonly Column[] = [
  { title: "STATUS", width: 10, cell: statusWord },
  { title: "PROGRESS", width: BAR_CELLS + 6, rank: 1, cell: progressOf },
  { title: "MODEL", width: 24, cut: "end", rank: 2, cell: ({ model }) => model },
  { title: "TIME", width: 9, align: "right", rank: 3, cell: timeOf },
  { title: "LEFT", width: 9, align: "right", rank: 4, cell: leftOf },
  { title: "COST", width: 12, align: "right", rank: 5, cell: ({ cost = "" }) => cost },
  { title: "CREATED", width: 20, rank: 6, cell: ({ createdAt }) => formatTime(createdAt * 1000) },
  { title: "KIND", width: 5, rank: 7, cell: ({ kind }) => kind },
  { title: "NOTE", width: 60, cut: "end", rank: 8, cell: ({ note }) => note },
];

/** The columns of a table of some width. */
export interface Columns {
  readonly shown: readonly { readonly column: Column; readonly width: number }[];
}

/** @param isOfAll whether tasks of several accounts are listed */
export function columnsFor(width: number, isOfAll: boolean): Columns {
  const task = width < NARROW.below ? { ...TASK, width: NARROW.width } : TASK;
  const all = [task, ...(isOfAll ? [ACCOUNT] : []), ...OTHERS];
  const { columns, widths }: Fit = fitColumns(
    all,
    all.map((column) => column.width),
    width,
  );
  return {
    shown: columns.flatMap((i, at) => {
      const column = all[i];
      return column === undefined ? [] : [{ column, width: widths[at] ?? 0 }];
    }),
  };
}

export function headLine({ shown }: Columns): string {
  return shown.map(({ column, width }) => fitCells(column.title, width, column.align)).join(" ".repeat(GAP));
}

/** A row in parts, so that its status can have a colour: what is before it, itself, what is after it. */
export function rowParts({ shown }: Columns, task: WatchedTask, moment: Moment): [string, string, string] {
  const at = shown.findIndex(({ column }) => column.title === "STATUS");
  const cells = shown.map(({ column, width }) => {
    const text = oneLine(column.cell(task, moment));
    return fitCells(column.cut === "middle" ? cutText(text, width, "middle") : text, width, column.align);
  });
  const gap = " ".repeat(GAP);
  const join = (part: readonly string[]) => part.join(gap);
  return [`${join(cells.slice(0, at))}${gap}`, cells[at] ?? "", `${gap}${join(cells.slice(at + 1))}`];
}

export function statusWord({ status, isCancelling }: WatchedTask): string {
  return isCancelling ? "cancelling" : status;
}

function progressOf({ progress, status, hasEnded }: WatchedTask): string {
  if (hasEnded && status !== "completed") return "";
  const done = Math.floor((progress / 100) * BAR_CELLS);
  return `${"█".repeat(done)}${"░".repeat(BAR_CELLS - done)} ${String(progress).padStart(3)} %`;
}

/** How long a task took, or has been there. */
function timeOf({ createdAt, completedAt, hasEnded }: WatchedTask, { nowMs }: Moment): string {
  const until = completedAt ?? (hasEnded ? createdAt : nowMs / 1000);
  const seconds = Math.max(0, Math.floor(until - createdAt));
  // The times of a task are told in whole seconds.
  return seconds === 0 ? "< 1 s" : formatSpan(seconds);
}

/** For a narrow column: `42 s`, `3 m 20 s`, `5 h`, `12 d`. */
function formatSpan(seconds: number): string {
  if (seconds < 3_600) return formatDuration(seconds * 1000);
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Its place in the queue, or how long it should still take. */
export function leftOf(task: WatchedTask, { pace, nowMs }: Moment): string {
  if (task.hasEnded) return "";
  if (task.status === "pending" && task.queuePosition !== undefined) return `${task.queuePosition} before`;
  const seconds = secondsLeft(pace, task, nowMs);
  if (seconds === undefined) return "";
  return seconds === 0 ? "soon" : `~${formatSpan(seconds)}`;
}
