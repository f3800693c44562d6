/*
 * What must hold before a change is good: `bun run check`. With `--all`, also what takes programs and rights that not every
 * machine has. The first failing step ends it with its exit code; the last line is always `N passed, N failed`, the sum of all
 * test runs. Tests that drive processes or a browser share a machine with whatever else it does: of those, files that failed run
 * once more by themselves. What passes only then is told by name as the flake that it is.
 */
import {
  BINARY,
  buildStep,
  bun,
  installStep,
  lintStep,
  run,
  runAside,
  runTests,
  type Step,
  say,
  type TestCounts,
  type TestRun,
  typesStep,
} from "./steps.ts";

/** When more files fail than these, something is broken: there is no second attempt. */
const FLAKES_AT_MOST = 3;

/** `drivesProcesses`: its tests depend on when other processes get their turn, so files that failed run once more. */
type Suite = Step & { readonly drivesProcesses?: true };

const ofExecutable = { env: { SVC_BIN: BINARY }, drivesProcesses: true } as const;
const SUITES: readonly Suite[] = [
  { title: "unit and architecture tests", command: tests("test") },
  { title: "tests of the executable", command: tests("test:e2e"), ...ofExecutable },
  {
    title: "tests of the executable that measure, two at once",
    command: tests("test:alone"),
    ...ofExecutable,
  },
];
/** What takes a database server, a browser, or programs and rights of a machine. */
const MORE_SUITES: readonly Suite[] = [
  { title: "tests of the store on PostgreSQL", command: tests("test:postgres"), drivesProcesses: true },
  { title: "tests of the console in a browser", command: tests("test:console"), ...ofExecutable },
  {
    title: "tests beside systemd, proxies, containers and releases",
    command: tests("test:machine"),
    ...ofExecutable,
  },
];
const suites = process.argv.includes("--all") ? [...SUITES, ...MORE_SUITES] : SUITES;

const flakes: string[] = [];
const total: TestCounts = { passed: 0, failed: 0, skipped: 0, skippedChecks: 0 };

await requireSuccess(run, [installStep]);
await requireSuccess(runAside, [typesStep, lintStep, buildStep]);
for (const suite of suites) await requireTests(suite);
finish(0);

function tests(script: string): string[] {
  return bun("run", "--silent", script, "--only-failures");
}

/** Runs steps at the same time. All end before the first failure is told. */
async function requireSuccess(runStep: typeof run, steps: readonly Step[]): Promise<void> {
  const exitCodes = await Promise.all(steps.map(runStep));
  const at = exitCodes.findIndex((exitCode) => exitCode !== 0);
  if (at === -1) return;
  total.failed += 1;
  fail(steps[at], exitCodes[at]);
}

async function requireTests(suite: Suite): Promise<void> {
  const startedAt = performance.now();
  const first = await runTests(suite);
  const { exitCode, counts } = first.exitCode === 0 ? first : await secondAttempt(suite, first);
  for (const name of ["passed", "failed", "skipped", "skippedChecks"] as const) total[name] += counts[name];
  say(`${suite.title} took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  if (exitCode !== 0 || counts.failed > 0) fail(suite, exitCode);
}

/** Runs the failed files of a suite that drives processes again, one after the other. Another failed run stays as it is. */
async function secondAttempt(suite: Suite, first: TestRun): Promise<TestRun> {
  const { failedFiles, counts } = first;
  const count = failedFiles.length;
  if (suite.drivesProcesses !== true || count === 0 || count > FLAKES_AT_MOST) return first;
  const command = bun("test", "--timeout=120000", ...failedFiles);
  const again = await runTests({ ...suite, title: `${suite.title}: what failed, again`, command });
  if (again.exitCode !== 0) return first;
  flakes.push(...failedFiles);
  return { ...again, counts: { ...counts, passed: counts.passed + counts.failed, failed: 0 } };
}

function fail(step: Step | undefined, exitCode = 1): never {
  say(`\n${step?.title} failed with exit code ${exitCode}`);
  finish(exitCode === 0 ? 1 : exitCode);
}

function finish(exitCode: number): never {
  const { passed, failed, skipped, skippedChecks } = total;
  if (skipped + skippedChecks > 0)
    say(`${skipped} tests skipped, and ${skippedChecks} checks against contracts that are not here`);
  if (flakes.length > 0) say(`PASSED ONLY AT A SECOND ATTEMPT, to be mended: ${flakes.join(", ")}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(exitCode);
}
