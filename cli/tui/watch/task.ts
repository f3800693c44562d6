import { isJsonObject } from "../../../src/domain/json.ts";
import { issuesOf, resultUrls, type TaskView } from "../../client/answer.ts";
import { costOf } from "../../client/follow.ts";
import { textOf } from "../../client/lenient.ts";
import { hasEnded } from "../../client/wait.ts";

/** A task as the table shows it. */
export interface WatchedTask {
  readonly id: string;
  readonly kind: string;
  readonly model: string;
  readonly status: string;
  readonly hasEnded: boolean;
  readonly isCancelling: boolean;
  /** 0-100. */
  readonly progress: number;
  /** Epoch seconds, as the server tells them. */
  readonly createdAt: number;
  readonly completedAt: number | undefined;
  readonly queuePosition: number | undefined;
  readonly cost: string | undefined;
  /** What went wrong, or what is missing. */
  readonly note: string;
  /** Of a listing of all accounts. */
  readonly account: string;
  readonly view: TaskView;
}

export function watchedOf(view: TaskView): WatchedTask {
  const { task_id: id, status, progress, queue_position: position, account } = view;
  const owner = isJsonObject(account) ? (account.name ?? account.id) : undefined;
  return {
    id,
    kind: textOf(view.kind),
    model: textOf(view.model),
    status,
    hasEnded: hasEnded(view),
    isCancelling: view.cancel_requested === true,
    progress: typeof progress === "number" ? Math.max(0, Math.min(100, progress)) : 0,
    createdAt: numberOf(view.created_at) ?? 0,
    completedAt: numberOf(view.completed_at),
    queuePosition: numberOf(position),
    cost: costOf(view),
    note: [textOf(view.error_message) || textOf(view.error), ...issuesOf(view)].filter(Boolean).join("; "),
    account: textOf(owner),
    view,
  };
}

/** The first result's address, when it is one that may be opened. */
export function resultOf({ view }: WatchedTask): string | undefined {
  return resultUrls(view).find((url) => /^https?:\/\//.test(url));
}

const STANDING: Readonly<Record<string, number>> = { pending: 0, processing: 1 };
const standing = ({ hasEnded, status }: WatchedTask) => (hasEnded ? 2 : (STANDING[status] ?? 0));

/**
 * Which of two readings of a task is the later one. A page of a listing may be older than an event that came before it; a task that
 * has ended stays as it is.
 */
export function laterOf(known: WatchedTask, read: WatchedTask, isEvent: boolean): WatchedTask {
  if (known.hasEnded && !read.hasEnded) return known;
  if (isEvent) return read;
  const [before, after] = [standing(known), standing(read)];
  if (before !== after) return before > after ? known : read;
  return known.progress > read.progress ? known : read;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
