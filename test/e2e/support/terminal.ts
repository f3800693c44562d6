import { cleanEnvironment, SVC } from "../../helpers/server.ts";

/** A command with a terminal of its own, as a person would run it. */
export interface TerminalProcess {
  readonly pid: number;
  readonly exited: Promise<number>;
  /** What is on the screen so far, without colours. */
  screen(): string;
  /** The same with all that the terminal was told. */
  raw(): string;
  /** Resolves when the screen shows this. @throws Error when it does not, or the command ends before */
  shows(pattern: RegExp): Promise<void>;
  press(keys: string): void;
  kill(): void;
}

const SHOWS_WITHIN_MS = 15_000;

export function inTerminal(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): TerminalProcess {
  let raw = "";
  const changed: (() => void)[] = [];
  const child = Bun.spawn([SVC, ...args], {
    cwd: folder,
    env: cleanEnvironment({ TERM: "xterm-256color", ...env }),
    terminal: {
      cols: 160,
      rows: 50,
      data(_, data) {
        raw += Buffer.from(data).toString("utf8");
        for (const resolve of changed.splice(0)) resolve();
      },
    },
  });
  const screen = () => Bun.stripANSI(raw).replaceAll("\r", "");
  return {
    pid: child.pid,
    exited: child.exited,
    screen,
    raw: () => raw,
    async shows(pattern) {
      const timeout = Bun.sleep(SHOWS_WITHIN_MS).then(() => "late" as const);
      const ended = child.exited.then(() => "ended" as const);
      while (!pattern.test(screen())) {
        const more = new Promise<"more">((resolve) => changed.push(() => resolve("more")));
        const what = await Promise.race([more, timeout, ended]);
        if (what !== "more" && !pattern.test(screen()))
          throw new Error(`${what}, and the screen shows:\n${screen()}`);
      }
    },
    press: (keys) => void child.terminal?.write(keys),
    kill: () => child.kill("SIGKILL"),
  };
}
