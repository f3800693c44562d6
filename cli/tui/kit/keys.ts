import type { Key } from "ink";

/** A key by name: `a`, `G`, `?`, `up`, `pageup`, `enter`, `shift+tab`, `ctrl+c`. */
export type KeyName = string;

const NAMED = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["pageUp", "pageup"],
  ["pageDown", "pagedown"],
  ["home", "home"],
  ["end", "end"],
  ["return", "enter"],
  ["escape", "escape"],
  ["backspace", "backspace"],
  ["delete", "backspace"],
] as const;

/** Characters of a chunk that are keys with a name. */
const IN_TEXT: Readonly<Record<string, KeyName>> = { "\r": "enter", "\n": "enter", "\t": "tab" };

/** The keys in one piece of input, in order: a slow link may bring several at once. */
export function keysOf(input: string, key: Partial<Key>): KeyName[] {
  if (key.eventType === "release") return [];
  if (key.tab === true) return [key.shift === true ? "shift+tab" : "tab"];
  const named = NAMED.find(([name]) => key[name] === true);
  if (named !== undefined) return [named[1]];
  if (key.ctrl === true) return [`ctrl+${input}`];
  if (key.meta === true) return [];
  return [...input].flatMap((character) => IN_TEXT[character] ?? (isControl(character) ? [] : [character]));
}

function isControl(character: string): boolean {
  return /\p{Cc}/u.test(character);
}
