import type { Transition } from "../../../domain/task/transition.ts";
import { json } from "../raw-row.ts";
import { storedRequestText } from "./stored-request.ts";
import type { TaskRow } from "./task-table.ts";

/** Maps a transition to columns; null keeps a column's value. */
export const CHANGED_TASK = {
  failures: ({ failures }) => failures ?? null,
  lane: ({ lane }) => lane ?? null,
  setup: ({ lane, setup }) => (lane === undefined ? null : (setup ?? "")),
  route_index: ({ routeIndex }) => routeIndex ?? null,
  request: ({ request }) => (request === undefined ? null : storedRequestText(request)),
} satisfies { readonly [C in keyof TaskRow]?: (transition: Transition) => TaskRow[C] | null };

/** Maps an ending to columns besides those; null keeps a column's value. A statement that sets a column rewrites every index with it. */
export const ENDED_TASK = {
  status: ({ ending }) => ending?.status ?? null,
  completed_at: ({ ending }) => ending?.completedAt ?? null,
  charged_micros: ({ ending }) => ending?.charged ?? null,
  results: ({ ending }) => json(ending?.results),
  result_issues: ({ ending }) => json(ending?.resultIssues),
  error: ({ ending }) => json(ending?.error),
} satisfies { readonly [C in keyof TaskRow]?: (transition: Transition) => TaskRow[C] | null };

/** What of an ending many tasks have alike, for columns of a text and of its label. */
export const ENDED_ALIKE = {
  usage: ({ ending }) => json(ending?.usage),
  charge: ({ ending }) => json(ending?.chargeLines),
} satisfies { readonly [C in keyof TaskRow]?: (transition: Transition) => string | null };
