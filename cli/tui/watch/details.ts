import type { TaskSource } from "../../client/task-source.ts";
import type { Cells } from "../../picture/fit.ts";
import type { Depth } from "../../picture/half-blocks.ts";
import { readPicture } from "../../picture/poster.ts";
import type { Detail } from "./state.ts";
import { resultOf, type WatchedTask } from "./task.ts";

export interface DetailDeps {
  readonly source: TaskSource;
  /** Absent where no pictures are wanted. */
  readonly depth: Depth | undefined;
  readonly tell: (detail: Detail) => void;
}

/** A person who moves through the table opens many tasks only in passing. */
const SETTLED_MS = 150;
/** Changes of one task that come fast are read together. */
const AGAIN_MS = 1_000;
const LARGEST_BYTES = 30_000_000;

/** Reads what the detail pane shows about its task. Reads again when the task changes, and never for a task that was only passed. */
export function createDetails({ source, depth, tell }: DetailDeps) {
  let wanted = "";
  let open: { readonly task: WatchedTask; readonly room: Cells } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let told: Detail | undefined;
  let loaded: { readonly url: string; readonly bytes: Uint8Array } | undefined;

  async function read(task: WatchedTask, room: Cells): Promise<void> {
    const isOpen = () => open?.task.id === task.id;
    const show = (more: Partial<Detail>) => {
      if (!isOpen()) return;
      told = { ...(told?.id === task.id ? told : { id: task.id }), problem: undefined, ...more };
      tell(told);
    };
    try {
      show({ story: await source.story(task.id) });
      const url = resultOf(task);
      if (url === undefined || depth === undefined || !isOpen()) return;
      const bytes = loaded?.url === url ? loaded.bytes : await load(source, url);
      loaded = { url, bytes };
      show({ picture: await readPicture(bytes, room, depth) });
    } catch (error) {
      show({ problem: error instanceof Error ? error.message : String(error) });
    }
  }

  const readSoon = (delayMs: number) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (open !== undefined) void read(open.task, open.room);
    }, delayMs);
  };
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    /** The task that the pane shows now; undefined while it is closed. */
    want(task: WatchedTask | undefined, room: Cells): void {
      const key =
        task === undefined
          ? ""
          : [task.id, task.status, task.progress, task.isCancelling, room.columns, room.rows].join(" ");
      if (key === wanted) return;
      const isSame = task?.id === open?.task.id;
      wanted = key;
      open = task === undefined ? undefined : { task, room };
      // The pane has moved to another task, so the reading for the previous one is dropped.
      if (!isSame) stop();
      if (open !== undefined) readSoon(isSame ? AGAIN_MS : SETTLED_MS);
    },
    /** The server answers again: what could not be read of an open task is read now. */
    again: () => (told?.problem !== undefined && told.id === open?.task.id ? readSoon(0) : undefined),
    stop() {
      open = undefined;
      stop();
    },
  };
}

async function load(source: TaskSource, url: string): Promise<Uint8Array> {
  const response = await source.fetchFile(url);
  const size = Number(response.headers.get("content-length") ?? 0);
  if (size > LARGEST_BYTES) {
    await response.body?.cancel();
    throw new Error("The result is too large to be shown here; d saves it.");
  }
  return await response.bytes();
}
