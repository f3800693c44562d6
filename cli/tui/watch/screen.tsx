import type { TaskView } from "../../client/answer.ts";
import { interrupted } from "../../client/retry.ts";
import type { FeedListener } from "../../client/task-feed.ts";
import type { Depth } from "../../picture/half-blocks.ts";
import { openScreen, type Screen } from "../kit/screen.tsx";
import { type ActionDeps, createActions } from "./actions.ts";
import { createDetails } from "./details.ts";
import { type Asked, askedBy, pasted } from "./keys.ts";
import { layoutOf, pictureRoom } from "./layout.ts";
import { followSpending } from "./spending.ts";
import { initialState, reduce, selectedTask, type WatchEvent, type WatchState } from "./state.ts";
import { watchedOf } from "./task.ts";
import { lookOf, WatchView } from "./view.tsx";

export interface WatchOptions extends Omit<ActionDeps, "tell" | "take"> {
  readonly title: string;
  readonly isColoured: boolean;
  /** Colours for pictures; absent: none are drawn. */
  readonly depth: Depth | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface WatchScreen extends FeedListener {
  /** Gives the terminal back, for a reason or because all is done. */
  end(error?: unknown): void;
  /** Resolves when a person ends it, or `end` does without a reason; rejects otherwise. Either way the terminal is as it was. */
  readonly closed: Promise<void>;
}

/** Changes that come within this time are one. */
const BATCH_MS = 100;
const TICK_MS = 1_000;

/** Takes over the terminal and shows tasks as they are told. */
export function openWatch(options: WatchOptions): WatchScreen {
  const { source, title, now } = options;
  const look = lookOf(options.isColoured);
  const layout = () => layoutOf(screen.size(), screen.state().isDetail);
  const details = createDetails({ ...options, tell: (detail) => tell({ kind: "detail", detail }) });
  const tell = (event: WatchEvent) => {
    screen.dispatch(event);
    const { isDetail } = screen.state();
    details.want(isDetail ? selectedTask(screen.state()) : undefined, pictureRoom(layout()));
  };
  const actions = createActions({ ...options, tell, take: (view) => tell(tasksOf([view], true)) });
  const screen: Screen<WatchState, WatchEvent> = openScreen<WatchState, WatchEvent>({
    initial: initialState(now(), source.isOfAll),
    reduce,
    draw: (state, size) => <WatchView {...{ state, look, title, layout: layoutOf(size, state.isDetail) }} />,
    onKey: (key, on) => act(askedBy(key, on.state())),
    onPaste: (text, on) => act(pasted(text, on.state())),
    onResize: ({ rows, columns }) =>
      tell({ kind: "resize", height: layoutOf({ rows, columns }, screen.state().isDetail).height }),
  });
  function act(asked: Asked | undefined): void {
    if (asked === undefined) return;
    if (asked.kind === "quit") screen.close();
    else if (asked.kind === "interrupt") screen.close(interrupted());
    else if (asked.kind === "copy") {
      screen.copy(asked.text);
      tell({ kind: "notice", text: `copied ${asked.what}` });
    } else if (asked.kind === "do") {
      tell({ kind: "ask", question: undefined });
      void actions.run(asked.verb, asked.task);
    } else tell(asked);
  }
  tell({ kind: "resize", height: layout().height });
  const batch = createBatch((views) => tell(tasksOf(views, true)));
  const spending = followSpending(source, (amount) => tell({ kind: "spent", amount }));
  const ticks = setInterval(() => tell({ kind: "tick", nowMs: now() }), TICK_MS);
  return {
    onTasks(views, isEvent) {
      if (!isEvent) return tell(tasksOf(views, false));
      spending.after(views);
      batch.add(views);
    },
    onRead: (problem) => tell({ kind: "read", ...(problem === undefined ? {} : { problem }) }),
    onLive() {
      tell({ kind: "live" });
      details.again();
    },
    onTrouble: (message) => tell({ kind: "trouble", message }),
    end: screen.close,
    closed: screen.closed.finally(() => {
      clearInterval(ticks);
      batch.stop();
      spending.stop();
      details.stop();
    }),
  };
}

function tasksOf(views: readonly TaskView[], isEvent: boolean): WatchEvent {
  return { kind: "tasks", tasks: views.map(watchedOf), isEvent };
}

/** Hands over what came together. */
function createBatch(hand: (views: readonly TaskView[]) => void) {
  const views: TaskView[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    add(more: readonly TaskView[]) {
      views.push(...more);
      timer ??= setTimeout(() => {
        timer = undefined;
        hand(views.splice(0));
      }, BATCH_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
