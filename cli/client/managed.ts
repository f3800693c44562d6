import type { JsonObject } from "../../src/domain/json.ts";
import { taskOf } from "./answer.ts";
import { storyOf } from "./story.ts";

/** A query by the names of its parameters; those that are undefined are left out. */
export type ManagedTaskQuery = {
  readonly [Name in "account" | "kind" | "status" | "model" | "q" | "limit" | "after"]?: string | undefined;
};

/** Requests to the management API, with paths from `/admin/v1` on. */
export interface Asking {
  readonly get: (path: string, query?: ManagedTaskQuery) => Promise<JsonObject>;
  readonly send: (path: string) => Promise<JsonObject>;
}

const pathOf = (id: string) => `/tasks/${encodeURIComponent(id)}`;

/** Tasks of all accounts, for a management token. */
export function managedTaskCalls({ get, send }: Asking) {
  return {
    /** A page can be short, even empty, and not be the last: `next` tells. */
    async managedTasks(query: ManagedTaskQuery) {
      const { tasks, next } = await get("/tasks", query);
      return {
        tasks: Array.isArray(tasks) ? tasks.map(taskOf) : [],
        next: typeof next === "string" ? next : null,
      };
    },
    /** Everything about a task, with its routes. */
    managedStory: async (id: string) => storyOf(await get(pathOf(id))),
    /** Cancels a task of any account. @returns everything about it */
    managedCancel: async (id: string) => storyOf(await send(`${pathOf(id)}/cancel`)),
  };
}
