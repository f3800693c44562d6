import { ask } from "../../api/ask.ts";
import { tailOf } from "../../api/more.ts";
import type { Role } from "../../api/session.ts";
import { type ListedTask, MOST_TOLD } from "../tasks/list.ts";

/** Which results are shown; the address has the same names. Each is empty unless the reader chose it. */
export interface Filters {
  /** Words of the prompt. */
  readonly q: string;
  /** Empty: completed; `any`: every one. */
  readonly status: string;
  readonly kind: string;
  readonly model: string;
  /** `2026-11-24`, where the reader is. */
  readonly day: string;
  /** The least that the task cost, in dollars. */
  readonly cost: string;
  /** Id or name of a key, and of an account. For operators. */
  readonly key: string;
  readonly account: string;
}

/** One result, or a task that has none. As little as a tile needs: there may be very many. */
export interface Item {
  /** `task_….0`: the task and the place among its results. */
  readonly id: string;
  readonly task: string;
  readonly index: number;
  /** Results of the task. */
  readonly of: number;
  readonly status: ListedTask["status"];
  readonly kind: ListedTask["kind"];
  readonly url: string | undefined;
  readonly model: string;
  /** Unix seconds. */
  readonly at: number;
  readonly error: string | undefined;
}

export interface Found {
  readonly items: readonly Item[];
  /** Where to look further; null where everything was looked at. */
  readonly next: string | null;
  /** When the last task that was looked at was made. Unix seconds. */
  readonly lookedTo: number | undefined;
  /** How many the reader has read by scrolling. */
  readonly asked?: number;
}

const PAGE = 100;
/** What one look finds, unless it has read so many pages. */
const ENOUGH = 60;
const MOST_PAGES = 5;

/** Results that fit the filters, newest first, from a place on. It may find none and still have a place to go on from. @throws ApiProblem */
export async function readResults(
  role: Role,
  filters: Filters,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<Found> {
  const items: Item[] = [];
  const day = dayOf(filters.day);
  // The service knows other names of models and accounts.
  const unasked = { ...filters, model: "", account: "" };
  let at = after ?? (day === undefined ? undefined : idAt(day.endMs));
  let lookedTo: number | undefined;
  for (let page = 0; page < MOST_PAGES && items.length < ENOUGH; page += 1) {
    const { tasks, next } = await readPage(role, filters, at, signal);
    for (const task of tasks) if (fits(task, unasked)) items.push(...itemsOf(task));
    lookedTo = tasks.at(-1)?.created_at ?? lookedTo;
    const isBeforeDay = day !== undefined && lookedTo !== undefined && lookedTo * 1000 < day.startMs;
    if (next === null || isBeforeDay) return { items, next: null, lookedTo };
    at = next;
  }
  return { items, next: at ?? null, lookedTo };
}

function readPage(role: Role, filters: Filters, after: string | undefined, signal?: AbortSignal) {
  const { q, model, account } = filters;
  const status = STATUS_ASKED[filters.status === "" ? "completed" : filters.status];
  const kind = KINDS.find((each) => each === filters.kind);
  const query = {
    ...{ limit: PAGE, q, model },
    ...(status === undefined ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(after === undefined ? {} : { after }),
  };
  return role === "operator"
    ? ask("GET /admin/v1/tasks", { query: { ...query, account } }, { signal })
    : ask("GET /v1/tasks", { query }, { signal });
}

const KINDS = ["image", "video"] as const;
const STATUS_ASKED: { readonly [name: string]: ListedTask["status"] | undefined } = {
  ...{ completed: "completed", failed: "failed", cancelled: "cancelled" },
  ...{ pending: "pending", processing: "processing" },
};

/** Whether a task is one that the filters ask for, but for words of its prompt, which only the service knows. */
export function fits(task: ListedTask, filters: Filters): boolean {
  const { kind, model, key, account } = filters;
  const status = filters.status === "" ? "completed" : filters.status;
  const day = dayOf(filters.day);
  const madeMs = task.created_at * 1000;
  const least = Number(filters.cost);
  return (
    (status === "any" || status === task.status) &&
    (kind === "" || kind === task.kind) &&
    (model === "" || model === task.model) &&
    (day === undefined || (madeMs >= day.startMs && madeMs < day.endMs)) &&
    (!(least > 0) || Number(task.usage?.cost ?? 0) >= least) &&
    (key === "" || key === task.key?.id || key === task.key?.name) &&
    (account === "" || account === task.account?.id || account === task.account?.name)
  );
}

/** The results of a task, or the task itself where it has none. One whose files are removed has nothing to show. */
export function itemsOf(task: ListedTask): Item[] {
  if (task.files_removed_at !== undefined) return [];
  const { task_id, status, kind, model, created_at, error_code, result } = task;
  const urls = result ?? [undefined];
  return urls.map((url, index) => ({
    ...{ id: `${task_id}.${index}`, task: task_id, index, of: result?.length ?? 0 },
    ...{ status, kind, url, model, at: created_at, error: error_code },
  }));
}

/** What was found, with what was found after it. */
export function withMore(before: Found, { items, next, lookedTo }: Found): Found {
  const all = [...before.items, ...items];
  return { items: all, next, lookedTo, asked: all.length };
}

/** What a first look found, once more, with what later ones did as it was: a stream tells of its changes. */
export function withTail(fresh: Found, before: Found): Found {
  const tail = tailOf(fresh.items, before.items, ({ id }) => id);
  return fresh.next === null || tail.length === 0 ? fresh : { ...before, items: [...fresh.items, ...tail] };
}

/** What was found, with what a stream told of one task: in its place, or gone where it fits no more. */
export function withTask(found: Found, task: ListedTask, filters: Filters): Found {
  const others = found.items.filter((item) => item.task !== task.task_id);
  const isKnown = others.length < found.items.length;
  const isWithin = found.next === null || task.task_id > (found.items.at(-1)?.task ?? "");
  if (!fits(task, filters) || !(isKnown || isWithin)) return isKnown ? { ...found, items: others } : found;
  const place = others.findIndex((item) => item.task < task.task_id);
  const at = place < 0 ? others.length : place;
  const items = [...others.slice(0, at), ...itemsOf(task), ...others.slice(at)];
  return isKnown ? { ...found, items } : withoutOldest({ ...found, items });
}

/** Without the oldest of more than are kept, which are read again where somebody scrolls to them. A task keeps all of its results. */
function withoutOldest(found: Found): Found {
  const { items, asked = 0 } = found;
  let count = Math.max(MOST_TOLD, asked);
  if (items.length <= count) return found;
  while (items[count]?.task === items[count - 1]?.task) count += 1;
  const last = items[count - 1];
  if (last === undefined || count >= items.length) return found;
  return { ...found, items: items.slice(0, count), next: last.task, lookedTo: last.at };
}

/** When a day begins and ends where the reader is, in milliseconds since 1970. Undefined for what is no day. */
function dayOf(text: string): { readonly startMs: number; readonly endMs: number } | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const start = new Date(`${text}T00:00`);
  if (Number.isNaN(start.getTime())) return undefined;
  const end = new Date(start);
  end.setDate(end.getDate() + 1);
  return { startMs: start.getTime(), endMs: end.getTime() };
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The least id that a task of a moment can have: ids are TypeIDs of UUIDv7s, whose first 48 bits are their time in milliseconds, so
 * a listing can begin there. Source: https://github.com/jetify-com/typeid/tree/main/spec (checked 2026-11-24).
 */
export function idAt(ms: number): string {
  let bits = BigInt(ms) << 80n;
  let text = "";
  for (let digit = 0; digit < 26; digit += 1) {
    text = DIGITS[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return `task_${text}`;
}
