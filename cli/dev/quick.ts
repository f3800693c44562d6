/*
 * What tells most in little time: `bun run quick [base]`. Types, lint of what changed since the base (main, unless given),
 * committed or not, and the unit tests that this reaches: the nearest first, as many as fit.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readDurations } from "./durations.ts";
import { distances, readImporters } from "./import-graph.ts";
import { bun, ROOT, run, runAside, type Step, say, typesStep } from "./steps.ts";

/** By the recorded durations; two at a time, beside types and lint. */
const TESTS_TAKE_AT_MOST_MS = 8_000;
/** Of a file without a record. */
const USUAL_MS = 300;
const UNIT_TEST = /^test\/(?!e2e\/).*\.test\.tsx?$/;
/** They read the sources without importing them. */
const ARCHITECTURE = "test/architecture/architecture.test.ts";

const startedAt = performance.now();
const changed = changedFiles(baseOf(process.argv[2]));
const { chosen, left } = chooseTests(changed);
say(`${changed.length} files changed; ${chosen.length + left} test files reach them`);
say(chosen.map((path) => `  ${path}`).join("\n"));
const testStep = { title: "tests", command: bun("run", "--silent", "test", "--only-failures", ...chosen) };
const exitCodes = await Promise.all([
  runAside(typesStep),
  changed.length === 0 ? 0 : runAside(lintStep(changed)),
  chosen.length === 0 ? 0 : run(testStep),
]);
if (left > 0) say(`\n${left} more test files reach the change from further away: \`bun run test\` runs all`);
const failed = exitCodes.filter((exitCode) => exitCode !== 0);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(`${failed.length === 0 ? "passed" : "FAILED"} in ${seconds} s`);
process.exit(failed[0] ?? 0);

/** Lint of what changed: no rule looks at two files at once. */
function lintStep(files: readonly string[]): Step {
  const there = files.filter((path) => existsSync(join(ROOT, path)));
  const paths = files.includes("biome.json") ? ["."] : there;
  const flags = ["--no-errors-on-unmatched", "--files-ignore-unknown=true"];
  return { title: "lint", command: bun("run", "--silent", "biome", "check", ...flags, ...paths) };
}

/** Where the present branch left main; the last commit on main itself. */
function baseOf(given: string | undefined): string {
  if (given !== undefined) return given;
  for (const main of ["main", "origin/main"]) {
    const [base] = git("merge-base", "HEAD", main);
    if (base !== undefined) return base;
  }
  return "HEAD";
}

function changedFiles(base: string): string[] {
  const files = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
  return [...new Set(files)].sort();
}

function chooseTests(files: readonly string[]): { chosen: string[]; left: number } {
  const durations = readDurations();
  const reached = [...distances(readImporters(), files)]
    .filter(([path]) => UNIT_TEST.test(path) && existsSync(join(ROOT, path)))
    .map(([path, distance]) => ({ path, distance, ms: durations[path] ?? USUAL_MS }))
    .sort((a, b) => a.distance - b.distance || a.ms - b.ms);
  const chosen = new Set(files.some((path) => /^(src|cli|migrations)\//.test(path)) ? [ARCHITECTURE] : []);
  let totalMs = 0;
  for (const { path, ms, distance } of reached) {
    if (distance > 0 && totalMs + ms > TESTS_TAKE_AT_MOST_MS) continue;
    chosen.add(path);
    totalMs += ms;
  }
  return { chosen: [...chosen], left: reached.filter(({ path }) => !chosen.has(path)).length };
}

/** The lines that git prints; none when it fails. */
function git(...args: string[]): string[] {
  const { stdout, exitCode } = Bun.spawnSync(["git", ...args], { cwd: ROOT, stderr: "ignore" });
  return exitCode === 0 ? stdout.toString().split("\n").filter(Boolean) : [];
}
