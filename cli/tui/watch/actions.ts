import { downloadResults } from "../../client/download.ts";
import type { Timing } from "../../client/retry.ts";
import type { TaskSource } from "../../client/task-source.ts";
import type { Sink } from "../../context.ts";
import { showPath } from "../../local.ts";
import type { WatchEvent } from "./state.ts";
import { resultOf, type WatchedTask } from "./task.ts";

export interface ActionDeps {
  readonly source: TaskSource;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  readonly stdout: Sink;
  /** Where results are saved. */
  readonly cwd: string;
  /** Opens an address with the desktop's program for it. @returns why it could not, or undefined */
  readonly openAddress: (address: string) => Promise<string | undefined>;
  readonly tell: (event: WatchEvent) => void;
  readonly take: (task: WatchedTask["view"]) => void;
}

export type Verb = "cancel" | "retry" | "download" | "open";

/** Does something about a task, and says what came of it. */
export function createActions(deps: ActionDeps) {
  const verbs: Readonly<Record<Verb, (task: WatchedTask) => Promise<string>>> = {
    async cancel({ id }) {
      const view = await deps.source.cancel(id);
      deps.take(view);
      return view.status === "cancelled"
        ? `${id} is cancelled.`
        : `${id} is asked to stop; it is ${view.status}.`;
    },
    async retry({ id }) {
      return `${await deps.source.retry(id)} was created like ${id}.`;
    },
    async download({ view }) {
      const { source: client, timing, signal, cwd, stdout } = deps;
      const target = { kind: "folder", path: cwd, mayReplace: false } as const;
      const files = await downloadResults({ client, timing, signal }, view, target, stdout);
      return `saved ${files.map(({ path }) => showPath(path, cwd)).join(", ")}`;
    },
    async open(task) {
      const address = resultOf(task) ?? "";
      const problem = await deps.openAddress(address);
      if (problem !== undefined) throw new Error(problem);
      return `opened ${address}`;
    },
  };
  return {
    async run(verb: Verb, task: WatchedTask): Promise<void> {
      deps.tell({ kind: "notice", text: WORKING[verb] });
      try {
        deps.tell({ kind: "notice", text: await verbs[verb](task) });
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        deps.tell({ kind: "notice", text, isBad: true });
      }
    },
  };
}

const WORKING: Readonly<Record<Verb, string>> = {
  ...{ cancel: "Cancelling …", retry: "Creating a task …", download: "Saving …", open: "Opening …" },
};
