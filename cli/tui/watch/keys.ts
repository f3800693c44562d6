import type { KeyName } from "../kit/keys.ts";
import { TABS } from "./order.ts";
import { type Question, selectedTask, type WatchEvent, type WatchState } from "./state.ts";
import { resultOf, type WatchedTask } from "./task.ts";

/** What a key asks for: to change what is shown, to do something about a task, or to end. */
export type Asked =
  | WatchEvent
  | { readonly kind: "quit" }
  | { readonly kind: "interrupt" }
  | { readonly kind: "copy"; readonly text: string; readonly what: string }
  | {
      readonly kind: "do";
      readonly verb: "cancel" | "retry" | "download" | "open";
      readonly task: WatchedTask;
    };

const FAR = Number.MAX_SAFE_INTEGER;

/** @returns undefined for a key without a meaning */
export function askedBy(key: KeyName, state: WatchState): Asked | undefined {
  if (key === "ctrl+c") return { kind: "interrupt" };
  if (state.question !== undefined) return answered(key, state, state.question);
  if (state.isSearching) return typed(key, state);
  if (state.isHelp) return fromHelp(key);
  return MOVES[key]?.(state) ?? SCREEN[key]?.(state) ?? aboutTask(key, state);
}

/** Pasted text goes where text is typed, and nowhere else. */
export function pasted(text: string, { isSearching, search }: WatchState): WatchEvent | undefined {
  const [line = ""] = text.split(/[\r\n]/);
  return isSearching ? { kind: "search", text: search + line, isSearching: true } : undefined;
}

function answered(key: KeyName, { tasks }: WatchState, { verb, id }: Question): Asked {
  const task = tasks.get(id);
  if ((key === "y" || key === "Y") && task !== undefined) return { kind: "do", verb, task };
  return { kind: "ask", question: undefined };
}

function typed(key: KeyName, { search }: WatchState): Asked | undefined {
  const is = (text: string, isSearching = true): Asked => ({ kind: "search", text, isSearching });
  if (key === "enter") return is(search, false);
  if (key === "escape") return is("", false);
  if (key === "backspace") return is([...search].slice(0, -1).join(""));
  if (key === "ctrl+u") return is("");
  if (key === "up") return { kind: "move", by: -1 };
  if (key === "down") return { kind: "move", by: 1 };
  return [...key].length === 1 ? is(search + key) : undefined;
}

function fromHelp(key: KeyName): Asked | undefined {
  if (key === "q") return { kind: "quit" };
  return key === "?" || key === "escape" || key === "enter" ? { kind: "help", isShown: false } : undefined;
}

type Meaning = (state: WatchState) => Asked;
const move =
  (by: number): Meaning =>
  () => ({ kind: "move", by });
/** A page of the table, or of the task that is open. */
const page =
  (sign: 1 | -1): Meaning =>
  ({ isDetail, height }) => ({ kind: isDetail ? "scroll" : "move", by: sign * Math.max(1, height - 1) });

const MOVES: Readonly<Record<KeyName, Meaning | undefined>> = {
  up: move(-1),
  k: move(-1),
  down: move(1),
  j: move(1),
  pageup: page(-1),
  pagedown: page(1),
  " ": page(1),
  home: move(-FAR),
  g: move(-FAR),
  end: move(FAR),
  G: move(FAR),
  tab: () => ({ kind: "nextTab", by: 1 }),
  right: () => ({ kind: "nextTab", by: 1 }),
  "shift+tab": () => ({ kind: "nextTab", by: -1 }),
  left: () => ({ kind: "nextTab", by: -1 }),
  ...Object.fromEntries(TABS.map((tab, i) => [String(i + 1), () => ({ kind: "tab", tab }) as const])),
};

const SCREEN: Readonly<Record<KeyName, Meaning | undefined>> = {
  q: () => ({ kind: "quit" }),
  "?": () => ({ kind: "help", isShown: true }),
  "/": ({ search }) => ({ kind: "search", text: search, isSearching: true }),
  s: () => ({ kind: "sort" }),
  enter: ({ isDetail }) => ({ kind: "open", isOpen: !isDetail }),
  // Closes what is open; then ends the search.
  escape: ({ isDetail, search }) =>
    isDetail || search === ""
      ? { kind: "open", isOpen: false }
      : { kind: "search", text: "", isSearching: false },
};

function aboutTask(key: KeyName, state: WatchState): Asked | undefined {
  const task = selectedTask(state);
  if (task === undefined) return undefined;
  const { id, status, hasEnded } = task;
  const no = (text: string): Asked => ({ kind: "notice", text, isBad: true });
  switch (key) {
    case "c":
      return hasEnded
        ? no(`${id} has ended: it is ${status}.`)
        : { kind: "ask", question: { verb: "cancel", id } };
    case "r":
      if (state.isOfAll) return no("Only a key of the account that owns a task can create one like it.");
      return hasEnded
        ? { kind: "ask", question: { verb: "retry", id } }
        : no(`${id} is still ${status}; what has ended can be retried.`);
    case "y":
      return { kind: "copy", text: id, what: id };
    case "Y":
    case "o":
    case "d":
      return withResult(key, task) ?? no(`${id} is ${status} and has no results.`);
    default:
      return undefined;
  }
}

function withResult(key: "Y" | "o" | "d", task: WatchedTask): Asked | undefined {
  const url = resultOf(task);
  if (url === undefined) return undefined;
  if (key === "Y") return { kind: "copy", text: url, what: url };
  return { kind: "do", verb: key === "o" ? "open" : "download", task };
}
