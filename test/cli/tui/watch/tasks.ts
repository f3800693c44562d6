import { type WatchedTask, watchedOf } from "../../../../cli/tui/watch/task.ts";

/** A task as a server lists it, with only the fields that matter. */
export function listed(number: number, fields: object = {}) {
  return {
    task_id: taskId(number),
    status: "completed",
    progress: 100,
    kind: "image",
    model: "image-1",
    created_at: 1_000 + number,
    completed_at: 1_002 + number,
    usage: { cost: "0.040000", currency: "USD" },
    ...fields,
  };
}

export function live(number: number, fields: object = {}) {
  return listed(number, {
    ...{ status: "processing", progress: 40, completed_at: undefined, usage: undefined },
    ...fields,
  });
}

export function taskId(number: number): string {
  return `task_${String(number).padStart(26, "0")}`;
}

export function watched(...views: ReturnType<typeof listed>[]): WatchedTask[] {
  return views.map((view) => watchedOf(view));
}
