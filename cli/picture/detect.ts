import type { Depth } from "./half-blocks.ts";
import type { Size } from "./pixels.ts";

export const PROTOCOLS = ["kitty", "iterm", "sixel", "half"] as const;

/** How pictures reach a terminal. `half` draws them with characters. */
export type Protocol = (typeof PROTOCOLS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says: the protocol, or that the terminal must be asked. */
export type Guess =
  | { readonly protocol: Protocol }
  /** `withSixels`: the protocol to take if the terminal says that it has them; else half blocks. */
  | { readonly ask: true; readonly withSixels: Protocol };

const HALF: Guess = { protocol: "half" };
const KITTY: Guess = { protocol: "kitty" };
const ITERM: Guess = { protocol: "iterm" };

/** What each program that names itself in TERM_PROGRAM can do. */
const PROGRAMS: Readonly<Record<string, Guess>> = {
  "iTerm.app": ITERM,
  WezTerm: ITERM,
  ghostty: KITTY,
  // Its pictures are a setting. Where it is on, it answers that it has sixels; it also knows the other protocol, which is sharper.
  vscode: { ask: true, withSixels: "iterm" },
  Apple_Terminal: HALF,
};

/** Guesses a terminal's protocol from the variables it sets. */
export function guessProtocol(env: Environment): Guess {
  const term = env.TERM ?? "";
  // These programs repaint the screen from their own copy, which has no pictures, and answer questions themselves.
  if (isMultiplexed(env)) return HALF;
  if (hasKittyPictures(term)) return KITTY;
  if (term === "linux") return HALF;
  // Before KITTY_WINDOW_ID, which a program started from kitty inherits.
  const program = PROGRAMS[env.TERM_PROGRAM ?? ""];
  if (program !== undefined) return program;
  if (isSet(env.KITTY_WINDOW_ID)) return KITTY;
  // Unlike TERM_PROGRAM, this one passes through ssh.
  if (env.LC_TERMINAL === "iTerm2") return ITERM;
  return { ask: true, withSixels: "sixel" };
}

/** Whether a terminal of this name has kitty's protocol. */
export function hasKittyPictures(term: string | undefined): boolean {
  return term === "xterm-kitty" || term === "xterm-ghostty";
}

function isMultiplexed({ TMUX, STY, ZELLIJ, TERM = "" }: Environment): boolean {
  return [TMUX, STY, ZELLIJ].some(isSet) || /^(?:screen|tmux)(?:$|[-.])/.test(TERM);
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

const TRUE_COLOUR_PROGRAMS: readonly (string | undefined)[] = ["iTerm.app", "WezTerm", "ghostty", "vscode"];

/** How many colours the terminal says it has. */
export function depthOf({ TERM = "", COLORTERM, TERM_PROGRAM }: Environment): Depth {
  const isTrue =
    COLORTERM === "truecolor" ||
    COLORTERM === "24bit" ||
    TRUE_COLOUR_PROGRAMS.includes(TERM_PROGRAM) ||
    /-direct$|^xterm-(?:kitty|ghostty)$|^(?:foot|alacritty)/.test(TERM);
  return isTrue ? "true-colour" : "256";
}

/** Asks for the size of a cell, then for what the terminal is. All of them answer the second, so its answer ends the wait. */
export const QUESTION = "\u001b[16t\u001b[c";

export interface Answer {
  readonly hasSixels: boolean;
  readonly cell?: Size | undefined;
}

/** Among the attributes of a terminal (https://vt100.net/docs/vt510-rm/DA1.html). */
const SIXEL_ATTRIBUTE = "4";

/** Reads the answer to QUESTION; undefined as long as it is not complete. */
export function readAnswer(text: string): Answer | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const [, attributes] = /\u001b\[\?([\d;]*)c/.exec(text) ?? [];
  if (attributes === undefined) return undefined;
  return { hasSixels: attributes.split(";").slice(1).includes(SIXEL_ATTRIBUTE), cell: readCell(text) };
}

const PLAUSIBLE_CELL = { least: 4, most: 200 };

function readCell(text: string): Size | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const [, height, width] = /\u001b\[6;(\d{1,4});(\d{1,4})t/.exec(text) ?? [];
  const cell = { width: Number(width), height: Number(height) };
  const isPlausible = [cell.width, cell.height].every(
    (side) => side >= PLAUSIBLE_CELL.least && side <= PLAUSIBLE_CELL.most,
  );
  return isPlausible ? cell : undefined;
}
