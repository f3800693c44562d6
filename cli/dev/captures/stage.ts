import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scene, Step } from "./scenes.ts";
import { createScreen, type Screen, textOf } from "./screen.ts";

/** The port that scenes speak of; another one stands in for it where it is taken. */
export const SHOWN_PORT = 8787;
const STEP_WITHIN_MS = 60_000;
const USUAL_ROWS = 30;

export interface StageOptions {
  readonly folder: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

/** A folder in which commands are typed, each on a terminal of its own. What one exports, the next ones have. */
export interface Stage {
  /** Plays a scene. @returns its screen at the end @throws Error when a command fails or does not show what it should */
  play(scene: Scene): Promise<Screen>;
  /** Ends the programs that scenes have left running. */
  close(): Promise<void>;
}

export function openStage(options: StageOptions): Stage {
  const running: Bun.Subprocess[] = [];
  return {
    async play({ columns, rows = USUAL_ROWS, steps }) {
      const screen = createScreen(columns, rows);
      for (const step of steps) {
        const isHidden = step.isHidden === true;
        if (!isHidden) await screen.write(prompt(step.type));
        const child = await perform(step, isHidden ? createScreen(columns, rows) : screen, options);
        if (child !== undefined) running.push(child);
      }
      return screen;
    },
    async close() {
      for (const child of running) child.kill("SIGTERM");
      await Promise.all(running.map((child) => child.exited));
    },
  };
}

/** Runs one step to its end, or until it shows what it should. @returns the program if it goes on */
async function perform(
  step: Step,
  screen: Screen,
  options: StageOptions,
): Promise<Bun.Subprocess | undefined> {
  let printing = Promise.resolve();
  let look = () => {};
  const child = Bun.spawn(["bash", writeScript(step, options)], {
    cwd: options.folder,
    env: options.env,
    terminal: {
      cols: screen.columns,
      rows: screen.rows,
      data(_, data) {
        const bytes = data.slice();
        printing = printing.then(() => screen.write(bytes)).then(() => look());
      },
    },
  });
  const shows = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      look = () => screen.lines().some((line) => pattern.test(textOf(line))) && resolve();
      look();
    });
  const play = async () => {
    if (step.until === undefined) return new Promise<never>(() => {});
    await shows(step.until);
    for (const { keys, until } of step.presses ?? []) {
      child.terminal?.write(keys);
      await shows(until);
    }
    return "shown" as const;
  };
  const end = await Promise.race([play(), child.exited, Bun.sleep(STEP_WITHIN_MS)]);
  await printing;
  if (end === "shown") return child;
  if (end === undefined) child.kill("SIGKILL");
  if (end !== 0 || step.until !== undefined) {
    const shown = screen.lines().map(textOf).join("\n");
    throw new Error(
      `"${step.type}" ${end === undefined ? "takes too long" : `ended with ${end}`}. The screen:\n${shown}`,
    );
  }
  if (!screen.isAtLineStart()) await screen.write("\r\n");
  return undefined;
}

/** A step as a script that begins and ends with the variables that steps have exported. */
function writeScript({ type, until }: Step, { folder, port }: StageOptions): string {
  const exported = join(folder, ".exported");
  const script = join(folder, ".step.sh");
  const before = existsSync(exported) ? readFileSync(exported, "utf8") : "";
  const command = type.replaceAll(String(SHOWN_PORT), String(port));
  // A program that goes on takes the place of the shell, so that a signal reaches it.
  const text =
    until === undefined ? `${command}\nstatus=$?\nexport -p > ${exported}\nexit $status` : `exec ${command}`;
  writeFileSync(script, `${before}${text}\n`);
  return script;
}

/** A command as a shell shows it. */
function prompt(command: string): string {
  return command
    .split("\n")
    .map((line, i) => `\u001b[32m${i === 0 ? "$" : ">"}\u001b[0m \u001b[1m${line}\u001b[0m\r\n`)
    .join("");
}
