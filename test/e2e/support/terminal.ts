import { Terminal } from "@xterm/headless";
import { cleanEnvironment, SVC } from "../../helpers/server.ts";

/** A command with a terminal of its own, as a person would run it. */
export interface TerminalProcess {
  readonly pid: number;
  readonly exited: Promise<number>;
  /** Everything that was printed so far, without colours. Of a command that draws, see `frame`. */
  screen(): string;
  /** The same with all that the terminal was told. */
  raw(): string;
  /** The lines that a person sees now, without spaces at their ends. */
  frame(): string[];
  /** What else is to be known of the terminal now. */
  state(): TerminalState;
  /** Resolves when `screen` fits. @throws Error when it does not, or the command ends before */
  shows(pattern: RegExp): Promise<void>;
  /** Resolves when the frame fits. @throws Error when it does not, or the command ends before */
  draws(fits: RegExp | ((frame: readonly string[]) => boolean)): Promise<void>;
  press(keys: string): void;
  resize(columns: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** Takes the terminal away, as when its window is closed. */
  hangUp(): void;
  kill(): void;
}

export interface TerminalState {
  readonly isOtherScreen: boolean;
  readonly isCursorHidden: boolean;
  readonly isBracketingPastes: boolean;
  readonly isWrapping: boolean;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Replaces the executable. */
  readonly command?: readonly string[];
}

const SHOWS_WITHIN_MS = 40_000;

export function inTerminal(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
  { columns: cols = 160, rows = 50, command = [SVC] }: TerminalOptions = {},
): TerminalProcess {
  let raw = "";
  const decoder = new TextDecoder();
  const lastWords = Promise.withResolvers<void>();
  const changed: (() => void)[] = [];
  const terminal = new Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  const child = Bun.spawn([...command, ...args], {
    cwd: folder,
    env: cleanEnvironment({ TERM: "xterm-256color", ...env }),
    terminal: {
      cols,
      rows,
      exit: () => lastWords.resolve(),
      data(_, data) {
        raw += decoder.decode(data, { stream: true });
        terminal.write(Uint8Array.from(data), () => {
          for (const resolve of changed.splice(0)) resolve();
        });
      },
    },
  });
  // What it printed last comes after its end.
  const exited = child.exited.then(async (code) => {
    await lastWords.promise;
    await new Promise<void>((resolve) => terminal.write("", resolve));
    return code;
  });
  const screen = () => Bun.stripANSI(raw).replaceAll("\r", "");
  const frame = () => linesOf(terminal);
  async function until(isTrue: () => boolean, shown: () => string): Promise<void> {
    const timeout = Bun.sleep(SHOWS_WITHIN_MS).then(() => "late" as const);
    const ended = exited.then(() => "ended" as const);
    while (!isTrue()) {
      const more = new Promise<"more">((resolve) => changed.push(() => resolve("more")));
      const what = await Promise.race([more, timeout, ended]);
      if (what !== "more" && !isTrue()) throw new Error(`${what}, and the screen shows:\n${shown()}`);
    }
  }
  return {
    pid: child.pid,
    exited,
    screen,
    raw: () => raw,
    frame,
    state: () => stateOf(terminal, raw),
    shows: (pattern) => until(() => pattern.test(screen()), screen),
    draws: (fits) =>
      until(
        () => (fits instanceof RegExp ? fits.test(frame().join("\n")) : fits(frame())),
        () => frame().join("\n"),
      ),
    press: (keys) => void child.terminal?.write(keys),
    resize(columns, newRows) {
      terminal.resize(columns, newRows);
      child.terminal?.resize(columns, newRows);
    },
    signal: (name) => void child.kill(name),
    hangUp: () => child.terminal?.close(),
    kill: () => child.kill("SIGKILL"),
  };
}

function linesOf({ buffer, rows }: Terminal): string[] {
  return Array.from(
    { length: rows },
    (_, y) => buffer.active.getLine(buffer.active.viewportY + y)?.translateToString(true) ?? "",
  );
}

function stateOf({ buffer, modes }: Terminal, raw: string): TerminalState {
  return {
    isOtherScreen: buffer.active.type === "alternate",
    isCursorHidden: raw.lastIndexOf("\u001b[?25l") > raw.lastIndexOf("\u001b[?25h"),
    isBracketingPastes: modes.bracketedPasteMode,
    isWrapping: modes.wraparoundMode,
  };
}
