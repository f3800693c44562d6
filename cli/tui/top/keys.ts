import type { KeyName } from "../kit/keys.ts";
import type { TopEvent } from "./state.ts";

/** What a key asks for: to change what is shown, or to end. */
export type Asked = TopEvent | { readonly kind: "quit" } | { readonly kind: "interrupt" };

/** @param height rows of the table that are seen @returns undefined for a key without a meaning */
export function askedBy(key: KeyName, isHelp: boolean, height: number): Asked | undefined {
  const scroll = (by: number): Asked => ({ kind: "scroll", by, height });
  switch (key) {
    case "q":
      return { kind: "quit" };
    case "ctrl+c":
      return { kind: "interrupt" };
    case "?":
      return { kind: "help", isShown: !isHelp };
    case "escape":
      return { kind: "help", isShown: false };
    case "tab":
    case "right":
      return { kind: "table", by: 1 };
    case "shift+tab":
    case "left":
      return { kind: "table", by: -1 };
    case "up":
    case "k":
      return scroll(-1);
    case "down":
    case "j":
      return scroll(1);
    case "pageup":
      return scroll(-height);
    case "pagedown":
      return scroll(height);
    case "home":
    case "g":
      return scroll(Number.NEGATIVE_INFINITY);
    case "end":
    case "G":
      return scroll(Number.POSITIVE_INFINITY);
    case "s":
      return { kind: "sort" };
    case "p":
    case " ":
      return { kind: "pause" };
    default:
      return undefined;
  }
}
