import { readFileSync } from "node:fs";
import type { Keyboard } from "./context.ts";
import { isTerminal, STANDARD_INPUT } from "./standard-streams.ts";

const CTRL_C = 3;
const CTRL_D = 4;
/** Signals that end the process. Before they do, the terminal must be as it was. */
const ENDINGS = ["SIGTERM", "SIGHUP"] as const;

/** The keyboard of a process's terminal; undefined where standard input is none. */
export function keyboardOf(process: NodeJS.Process): Keyboard | undefined {
  if (!isTerminal(STANDARD_INPUT)) return undefined;
  return {
    capture(onBytes) {
      // A job in the background that changes its terminal would be stopped.
      if (!isInForeground(process)) return undefined;
      const { stdin } = process;
      let isGone = false;
      const take = (bytes: Uint8Array) => {
        // Without its usual mode, the terminal sends this key instead of the signal.
        if (bytes.includes(CTRL_C)) process.kill(process.pid, "SIGINT");
        onBytes(bytes);
      };
      // Nobody types on a terminal that is closed.
      const hangUp = () => {
        isGone = true;
        onBytes(Uint8Array.of(CTRL_D));
      };
      const release = () => {
        stdin.off("data", take);
        stdin.off("end", hangUp);
        if (!isGone) stdin.setRawMode(false);
        stdin.pause();
        for (const signal of ENDINGS) process.off(signal, end);
      };
      const end = (signal: NodeJS.Signals) => {
        // What has hung up has no mode to give back, and trying to would fail.
        isGone ||= signal === "SIGHUP";
        release();
        process.kill(process.pid, signal);
      };
      for (const signal of ENDINGS) process.on(signal, end);
      stdin.setRawMode(true);
      stdin.on("data", take);
      stdin.on("end", hangUp);
      return release;
    },
  };
}

/** Whether the terminal belongs to this process's group, so that it may be changed. */
function isInForeground({ pid, platform }: NodeJS.Process): boolean {
  if (platform !== "linux") {
    const { stdout } = Bun.spawnSync(["ps", "-o", "pgid=,tpgid=", "-p", String(pid)]);
    const [group, foreground] = stdout.toString().trim().split(/\s+/);
    return group === foreground;
  }
  const text = readFileSync("/proc/self/stat", "latin1");
  // Behind the name, which may hold spaces and parentheses: state, parent, group, session, terminal, foreground group.
  const [, , group, , , foreground] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return group === foreground;
}
