import { effect, signal } from "@preact/signals";
import { session } from "../api/session.ts";
import { go, hrefOf } from "./router.ts";
import { screensOf } from "./screens.ts";
import { stored } from "./stored.ts";

/** Whether the list of keys is shown. */
export const areKeysShown = signal(false);

/** Keys without Ctrl and the like can be switched off, because dictation types them, too. */
export const plainKeys = stored("keys", ["on", "off"], "on");

/** Keys of every screen, for the list of them. */
export const GENERAL_KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["?", "Show these keys"],
  ["/", "Go to the first filter"],
  ["j  k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["Esc", "Close what is open"],
];

const SEQUENCE_MS = 1_200;

/** Listens for the keys of every screen. */
export function startKeys(): void {
  let isGoing = false;
  let forget: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    if (plainKeys.value === "off") isGoing = false;
  });
  document.addEventListener("keydown", (event) => {
    if (
      plainKeys.peek() === "off" ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isTyping(event.target)
    )
      return;
    const role = session.peek()?.role;
    if (role === undefined || document.querySelector("dialog[open]") !== null) return;
    if (isGoing) {
      isGoing = false;
      clearTimeout(forget);
      const screen = screensOf(role).find(({ key }) => key === event.key);
      if (screen === undefined) return;
      event.preventDefault();
      return go(hrefOf(screen.name));
    }
    if (event.key === "g") {
      isGoing = true;
      forget = setTimeout(() => {
        isGoing = false;
      }, SEQUENCE_MS);
      return;
    }
    if (react(event.key)) event.preventDefault();
  });
}

function react(key: string): boolean {
  if (key === "?") {
    areKeysShown.value = true;
    return true;
  }
  if (key === "/") return focus("main [data-filter]");
  if (key === "j" || key === "k") return moveRow(key === "j" ? 1 : -1);
  return false;
}

function focus(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  return found !== null;
}

/** Rows are the links that lead to what they show. */
function moveRow(by: number): boolean {
  const rows: (Element & Partial<HTMLElement>)[] = [
    ...document.querySelectorAll<HTMLElement>("main [data-row]"),
  ];
  const at = document.activeElement === null ? -1 : rows.indexOf(document.activeElement);
  // A long list has rows above those in sight.
  const inSight = () =>
    Math.max(
      0,
      rows.findIndex((row) => row.getBoundingClientRect().top >= 0),
    );
  const next = rows[at < 0 ? inSight() : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus?.();
  return next !== undefined;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
