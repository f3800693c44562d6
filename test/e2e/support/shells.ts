import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Terminal } from "@xterm/headless";
import { cleanEnvironment, emptyFolder, SVC } from "../../helpers/server.ts";

/** A shell at a prompt, with the executable under the name `svc`. */
export interface Shell extends Disposable {
  type(keys: string): void;
  /** Resolves when the screen shows this. @throws Error when it does not, within 20 seconds unless given */
  shows(pattern: RegExp, withinMs?: number): Promise<void>;
  screen(): string;
}

const SHOWS_WITHIN_MS = 40_000;
const SIZE = { cols: 160, rows: 50 };

/** Starts a shell in a folder, without any settings of its user. */
export function startShell(
  command: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): Shell {
  const bin = join(emptyFolder("bin"), "bin");
  mkdirSync(bin);
  symlinkSync(SVC, join(bin, "svc"));
  const terminal = new Terminal({ ...SIZE, allowProposedApi: true });
  const changed: (() => void)[] = [];
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: cleanEnvironment({ TERM: "xterm", LANG: "C.UTF-8", ...env, PATH: `${bin}:${process.env.PATH}` }),
    terminal: {
      ...SIZE,
      data(_, data) {
        terminal.write(data, () => {
          for (const resolve of changed.splice(0)) resolve();
        });
      },
    },
  });
  // Some shells ask the terminal what it is, and wait for the answer.
  terminal.onData((answer) => void child.terminal?.write(answer));
  const screen = () => {
    const { active } = terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true));
    return lines.join("\n").trimEnd();
  };
  return {
    type: (keys) => void child.terminal?.write(keys),
    screen,
    async shows(pattern, withinMs = SHOWS_WITHIN_MS) {
      const late = Bun.sleep(withinMs).then(() => "late" as const);
      while (!pattern.test(screen())) {
        const more = new Promise<"more">((resolve) => changed.push(() => resolve("more")));
        if ((await Promise.race([more, late])) === "late" && !pattern.test(screen()))
          throw new Error(`The screen never showed ${pattern}:\n${screen()}`);
      }
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}
