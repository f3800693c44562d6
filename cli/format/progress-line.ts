import { cutText } from "./fit.ts";
import { printable } from "./printable.ts";
import type { Style } from "./style.ts";

/** The state of a task at one moment. */
export interface Moment {
  readonly id: string;
  readonly status: string;
  /** 0-100. */
  readonly progress: number;
  /** How many tasks are before it, and itself; while it is pending. */
  readonly queuePosition?: number | undefined;
  readonly elapsedSec: number;
  /** What keeps the command from knowing more, in place of the status. */
  readonly trouble?: string | undefined;
}

const WIDE_BAR = 16;
const NARROW_BAR = 6;
const ENDS = 2;

/** `▕██████░░░░░░░░░░▏`, one cell per sixteenth. */
export function bar(progress: number, cells = WIDE_BAR): string {
  const done = Math.max(0, Math.min(cells, Math.floor((progress / 100) * cells)));
  return `▕${"█".repeat(done)}${"░".repeat(cells - done)}▏`;
}

/** One line about a task, with as much of it as fits: the bar and the figures stay, the id goes first. */
export function progressLine(moment: Moment, width: number, style: Pick<Style, "cyan" | "dim">): string {
  const { id, progress } = moment;
  const percent = `${progress} %`;
  const elapsed = `${moment.elapsedSec} s`;
  const state = `${stateOf(moment)} ${percent}`;
  const forms = [
    [id, WIDE_BAR, state, elapsed],
    [undefined, WIDE_BAR, state, elapsed],
    [undefined, NARROW_BAR, state, elapsed],
    [undefined, NARROW_BAR, percent, elapsed],
    [undefined, NARROW_BAR, percent],
  ] as const;
  const widthOf = ([name = "", cells, ...rest]: (typeof forms)[number]) =>
    [name, " ".repeat(cells + ENDS), ...rest].filter((part) => part !== "").join(" ");
  const fitting = forms.find((form) => Bun.stringWidth(widthOf(form)) <= width);
  if (fitting === undefined) return cutText(percent, width, "end");
  const [name, cells, said, time] = fitting;
  const parts = [
    name,
    style.cyan(bar(progress, cells)),
    said,
    time === undefined ? undefined : style.dim(time),
  ];
  return parts.filter((part) => part !== undefined).join(" ");
}

function stateOf({ status, queuePosition, trouble }: Moment): string {
  if (trouble !== undefined) return trouble;
  return status === "pending" && queuePosition !== undefined
    ? `pending #${queuePosition}`
    : printable(status);
}

/**
 * Tells the terminal itself of progress, which shows it in its tab or its task bar (OSC 9;4, of ConEmu; https://conemu.github.io/en/AnsiEscapeCodes.html).
 *
 * @param progress 0-100, or what it is when there is no number
 */
export function terminalProgress(progress: number | "unknown" | "none"): string {
  const state = progress === "none" ? "0;0" : progress === "unknown" ? "3;0" : `1;${progress}`;
  return `\u001b]9;4;${state}\u001b\\`;
}

/** iTerm2 before 3.6.6 shows every OSC 9 as a notification; a dumb terminal and Linux' console know no OSC. */
export function takesTerminalProgress(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.TERM === "dumb" || env.TERM === "linux") return false;
  if (env.TERM_PROGRAM !== "iTerm.app") return true;
  const [major = 0, minor = 0, patch = 0] = (env.TERM_PROGRAM_VERSION ?? "").split(".").map(Number);
  return major > 3 || (major === 3 && (minor > 6 || (minor === 6 && patch >= 6)));
}
