import { describe, expect, test } from "bun:test";
import { askedBy, pasted } from "../../../../cli/tui/watch/keys.ts";
import { barsOf, NO_PACE, secondsLeft, withEnds } from "../../../../cli/tui/watch/pace.ts";
import {
  initialState,
  MOST_TASKS,
  reduce,
  selectedTask,
  type WatchEvent,
  type WatchState,
} from "../../../../cli/tui/watch/state.ts";
import { listed, live, taskId, watched } from "./tasks.ts";

const NOW = 1_100_000;

function after(...events: WatchEvent[]): WatchState {
  return events.reduce(reduce, initialState(NOW));
}

const read = (...views: ReturnType<typeof listed>[]): WatchEvent => ({
  ...{ kind: "tasks", isEvent: false },
  tasks: watched(...views),
});
const changed = (...views: ReturnType<typeof listed>[]): WatchEvent => ({
  ...{ kind: "tasks", isEvent: true },
  tasks: watched(...views),
});
/** What keys make of a state; those that ask for something else than another state are left out. */
function pressing(state: WatchState, ...keys: string[]): WatchState {
  return keys.reduce((now, key) => {
    const asked = askedBy(key, now);
    const isOther = asked === undefined || ["quit", "interrupt", "copy", "do"].includes(asked.kind);
    return isOther ? now : reduce(now, asked as WatchEvent);
  }, state);
}

describe("tasks", () => {
  test("are shown newest first, whatever the order they are told in", () => {
    const state = after(read(listed(2), listed(1)), changed(live(3)));
    expect(state.order).toEqual([taskId(3), taskId(2), taskId(1)]);
    expect(state.counts).toMatchObject({ all: 3, processing: 1, completed: 2 });
  });

  test("that have ended do not come back to life, and a page does not undo an event", () => {
    const state = after(changed(listed(1)), changed(live(1)), read(live(1)));
    expect(state.tasks.get(taskId(1))?.status).toBe("completed");
    const later = after(changed(live(1, { progress: 70 })), read(live(1, { progress: 20 })));
    expect(later.tasks.get(taskId(1))?.progress).toBe(70);
  });

  test("keep their places while they change, and the selected one stays selected", () => {
    const before = after(read(live(2), live(1)), { kind: "move", by: 1 });
    const state = reduce(reduce(before, changed(live(3))), changed(live(1, { progress: 90 })));
    expect(selectedTask(state)?.id).toBe(taskId(1));
    expect(state.order).toEqual([taskId(3), taskId(2), taskId(1)]);
  });

  test("are forgotten, the oldest that have ended first, when there are very many", () => {
    const many = Array.from({ length: MOST_TASKS }, (_, i) => listed(i + 2));
    const full = after(read(live(1), ...many.slice(1)));
    expect(full.tasks.size).toBe(MOST_TASKS);
    const state = reduce(full, changed(live(MOST_TASKS + 2)));
    expect(state.tasks.size).toBe(MOST_TASKS * 0.9);
    expect(state.order).toHaveLength(state.tasks.size);
    expect(state.counts.all).toBe(state.tasks.size);
    const known = [1, 3, MOST_TASKS, MOST_TASKS + 2].map((number) => state.tasks.has(taskId(number)));
    expect(known).toEqual([true, false, true, true]);
  });

  test("are followed from the first row on", () => {
    const state = after(read(live(1)), changed(live(2)));
    expect(selectedTask(state)?.id).toBe(taskId(2));
  });

  test("count once as ended, and tell how long their model takes", () => {
    const state = after(read(live(9, { created_at: 1_095 })), changed(listed(5)), changed(listed(5)));
    expect(barsOf(state.pace, NOW).reduce((sum, count) => sum + count, 0)).toBe(1);
    const [task] = watched(live(9, { created_at: 1_099 }));
    expect(task && secondsLeft(state.pace, task, NOW)).toBe(1);
  });
});

test("a watch that goes on for long remembers as many ends as it shows", () => {
  const ends = Array.from({ length: 500 }, (_, i) => listed(i, { completed_at: 2_000 + i * 10 }));
  const { ends: kept } = withEnds(NO_PACE, watched(...ends));
  expect([kept.size, kept.get(200 + 499)]).toEqual([61, 1]);
});

describe("time", () => {
  test("changes nothing that is seen while no task runs and the bars stand still", () => {
    const state = after(read(listed(1, { created_at: 10, completed_at: 12 })));
    expect(reduce(state, { kind: "tick", nowMs: NOW + 60_000 })).toBe(state);
  });

  test("is not seen in a task that runs below the screen", () => {
    const long = listed(2, { created_at: 1_000, completed_at: 1_001 });
    const below = after(read(long, live(1, { created_at: 10 })));
    expect(reduce(below, { kind: "tick", nowMs: NOW + 1_000 })).toBe(below);
    const taller = reduce(below, { kind: "resize", height: 2 });
    expect(reduce(taller, { kind: "tick", nowMs: NOW + 1_000 })).not.toBe(taller);
  });

  test("is seen in tasks that run, and in bars", () => {
    const running = after(read(live(1)));
    expect(reduce(running, { kind: "tick", nowMs: NOW + 1_000 })).not.toBe(running);
    const ended = after(read(listed(1)));
    expect(reduce(ended, { kind: "tick", nowMs: NOW + 1_000 })).toBe(ended);
    expect(reduce(ended, { kind: "tick", nowMs: NOW + 10_000 })).not.toBe(ended);
  });
});

describe("keys", () => {
  const three = after(
    { kind: "resize", height: 2 },
    read(listed(3, { model: "b" }), listed(2, { status: "failed", error_message: "no lighthouse" }), live(1)),
  );

  test("move through the table and its window", () => {
    expect(pressing(three, "j", "down").selectedId).toBe(taskId(1));
    expect(pressing(three, "j", "down").start).toBe(1);
    expect(pressing(three, "G", "k").selectedId).toBe(taskId(2));
    expect(pressing(three, "G", "g").selectedId).toBeUndefined();
    expect(pressing(three, "pagedown", "pagedown", "pagedown", "up").selectedId).toBe(taskId(2));
  });

  test("choose a status, around and by number", () => {
    expect(pressing(three, "tab").tab).toBe("pending");
    expect(pressing(three, "shift+tab").tab).toBe("cancelled");
    expect(pressing(three, "5").order).toEqual([taskId(2)]);
  });

  test("search in what is known of a task, and end the search", () => {
    const found = pressing(three, "/", ..."Light", "enter");
    expect([found.order, found.isSearching]).toEqual([[taskId(2)], false]);
    expect(pressing(three, "/", ..."xq", "backspace", "backspace", ..."b", "enter").order).toEqual([
      taskId(3),
    ]);
    expect(pressing(found, "escape").order).toHaveLength(3);
    expect(pressing(three, "/", ..."abc", "ctrl+u").search).toBe("");
  });

  test("sort", () => {
    expect(pressing(three, "s").order.at(0)).toBe(taskId(1));
    expect(pressing(three, "s", "s", "s", "s").sort).toBe("model");
  });

  test("ask before a task is cancelled, and do nothing without a yes", () => {
    const asked = pressing(three, "G", "c");
    expect(asked.question).toEqual({ verb: "cancel", id: taskId(1) });
    expect(askedBy("y", asked)).toMatchObject({ kind: "do", verb: "cancel", task: { id: taskId(1) } });
    for (const key of ["n", "escape", "enter", "q"])
      expect(askedBy(key, asked)).toEqual({ kind: "ask", question: undefined });
  });

  test("ask before a task is paid for again", () => {
    expect(pressing(three, "r").question).toEqual({ verb: "retry", id: taskId(3) });
  });

  test("say why something cannot be done", () => {
    expect(askedBy("c", three)).toMatchObject({ kind: "notice", isBad: true });
    expect(askedBy("r", pressing(three, "G"))).toMatchObject({ kind: "notice", isBad: true });
    expect(askedBy("d", pressing(three, "G"))).toMatchObject({ kind: "notice", isBad: true });
  });

  test("copy, open and save what a task has", () => {
    const state = after(read(listed(1, { result: ["javascript:alert(1)", "http://127.0.0.1/a.png"] })));
    expect(askedBy("y", state)).toMatchObject({ kind: "copy", text: taskId(1) });
    expect(askedBy("Y", state)).toMatchObject({ kind: "copy", text: "http://127.0.0.1/a.png" });
    expect(askedBy("o", state)).toMatchObject({ kind: "do", verb: "open" });
    expect(askedBy("d", state)).toMatchObject({ kind: "do", verb: "download" });
  });

  test("without a task mean nothing", () => {
    for (const key of ["c", "r", "y", "Y", "o", "d"]) expect(askedBy(key, after())).toBeUndefined();
  });

  test("end the program from everywhere", () => {
    expect(askedBy("q", three)).toEqual({ kind: "quit" });
    expect(askedBy("q", pressing(three, "?"))).toEqual({ kind: "quit" });
    for (const keys of [[], ["/"], ["?"], ["G", "c"]])
      expect(askedBy("ctrl+c", pressing(three, ...keys))).toEqual({ kind: "interrupt" });
  });

  test("that are pasted are text of a search, and nothing else", () => {
    expect(pasted("cy", three)).toBeUndefined();
    expect(pasted("light\ncy", pressing(three, "/"))).toMatchObject({ text: "light" });
  });
});
