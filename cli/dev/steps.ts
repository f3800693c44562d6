/*
 * Running the steps of check, quick and demo. Nothing here or in those scripts imports an npm package: they start on a
 * machine where nothing is installed yet, and `bun` need not be on the PATH.
 */
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");
export const BINARY = join(ROOT, "dist/svc");

const SHOWN_AT_MOST = 100;

export type Step = { title: string; command: string[]; env?: Record<string, string> };

/** What a run of `bun test` says in its summary. `skippedChecks` are those against contracts that are not at hand. */
export type TestCounts = { passed: number; failed: number; skipped: number; skippedChecks: number };
/** `failedFiles` are the paths of the files in which a test failed, each once. */
export type TestRun = { exitCode: number; counts: TestCounts; failedFiles: readonly string[] };

/** A line for people, on stderr; console.error would paint it red on a terminal. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Announces a step, runs it with its output shown, and returns its exit code. */
export async function run(step: Step): Promise<number> {
  announce(step);
  return await start(step, "inherit", "inherit").exited;
}

/** Like run, with the output shown in one piece at the end, so that steps at the same time do not mix theirs. */
export async function runAside(step: Step): Promise<number> {
  const child = start(step, "pipe", "pipe");
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  announce(step);
  process.stderr.write(stdout + stderr);
  return exitCode;
}

/** Like run, for `bun test`: also reads the counts from its closing summary, and the files that failed. */
export async function runTests(step: Step): Promise<TestRun> {
  announce(step);
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = start({ ...step, env: { ...colour, ...step.env } }, "inherit", "pipe");
  let output = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  const exitCode = await child.exited;
  const plain = Bun.stripANSI(output);
  const counts = readTestCounts(plain);
  // A run that ended before its summary, or with an error outside of any test, has failed even if no test has.
  const failedWithoutTest = exitCode !== 0 && counts.failed === 0;
  return {
    exitCode,
    counts: failedWithoutTest ? { ...counts, failed: 1 } : counts,
    failedFiles: failedWithoutTest ? [] : readFailedFiles(plain),
  };
}

/** The files of a run's output that have a `(fail)` line below their name. */
export function readFailedFiles(output: string): string[] {
  const failed = new Set<string>();
  let file: string | undefined;
  for (const line of output.split("\n")) {
    file = /^(\S+\.test\.tsx?):$/.exec(line)?.[1] ?? file;
    if (file !== undefined && line.startsWith("(fail)")) failed.add(file);
  }
  return [...failed];
}

/** The numbers of bun's summary (the last `N pass`, `N fail` and `N skip` lines), and the skipped checks told by test/helpers/published.ts. */
export function readTestCounts(output: string): TestCounts {
  const numbers = (rest: string) =>
    [...output.matchAll(new RegExp(`^ *(\\d+) ${rest}`, "gm"))].map(([, number]) => Number(number));
  const last = (word: string) => numbers(`${word}$`).at(-1) ?? 0;
  return {
    passed: last("pass"),
    failed: last("fail"),
    skipped: last("skip"),
    skippedChecks: numbers("checks skipped: ").reduce((sum, number) => sum + number, 0),
  };
}

export const bun = (...args: string[]): string[] => [process.execPath, ...args];

export const installStep: Step = {
  title: "install",
  command: bun("install", "--frozen-lockfile", "--ignore-scripts"),
};
export const typesStep: Step = { title: "types", command: bun("run", "--silent", "typecheck") };
export const lintStep: Step = { title: "lint", command: bun("run", "--silent", "lint") };
export const buildStep: Step = { title: "build", command: bun("cli/build.ts") };

function start<Out extends "inherit" | "pipe", Err extends "inherit" | "pipe">(
  step: Step,
  stdout: Out,
  stderr: Err,
) {
  const env = { ...process.env, ...step.env };
  return Bun.spawn(step.command, { cwd: ROOT, env, stdin: "ignore", stdout, stderr });
}

function announce(step: Step): void {
  const words = step.command.map((word) => (word === process.execPath ? "bun" : word));
  const shown = words.join(" ");
  say(`\n==> ${step.title}: ${shown.length > SHOWN_AT_MOST ? `${shown.slice(0, SHOWN_AT_MOST)}…` : shown}`);
}
