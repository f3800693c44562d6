/*
 * Running the steps of check and demo. Nothing here or in those two scripts imports an npm package: they start on a
 * machine where nothing is installed yet, and `bun` need not be on the PATH.
 */
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");
export const BINARY = join(ROOT, "dist/svc");

export type Step = { title: string; command: string[]; env?: Record<string, string> };
export type TestCounts = { passed: number; failed: number };

/** A line for people, on stderr; console.error would paint it red on a terminal. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Announce a step, run it with its output shown, and return its exit code. */
export async function run(step: Step): Promise<number> {
  announce(step);
  const child = Bun.spawn(step.command, {
    cwd: ROOT,
    env: { ...process.env, ...step.env },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  return await child.exited;
}

/** Like run, for `bun test`: also reads the counts from its closing summary. */
export async function runTests(step: Step): Promise<{ exitCode: number; counts: TestCounts }> {
  announce(step);
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = Bun.spawn(step.command, {
    cwd: ROOT,
    env: { ...process.env, ...colour, ...step.env },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  });
  let output = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  const exitCode = await child.exited;
  const counts = readTestCounts(Bun.stripANSI(output));
  // A run that ended before its summary, or with an error outside of any test, has failed even if no test has.
  return { exitCode, counts: exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts };
}

/** The numbers of bun's summary, the last `N pass` and `N fail` lines of the output. */
export function readTestCounts(output: string): TestCounts {
  const last = (word: string) =>
    Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1)?.[1] ?? 0);
  return { passed: last("pass"), failed: last("fail") };
}

export const bun = (...args: string[]): string[] => [process.execPath, ...args];

export const installStep: Step = {
  title: "install",
  command: bun("install", "--frozen-lockfile", "--ignore-scripts"),
};

export const buildStep: Step = { title: "build", command: bun("cli/build.ts") };

function announce(step: Step): void {
  const words = step.command.map((word) => (word === process.execPath ? "bun" : word));
  say(`\n==> ${step.title}: ${words.join(" ")}`);
}
