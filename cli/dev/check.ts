/*
 * Everything that must hold before a change is good: `bun run check`. The first failing step ends it with its exit
 * code; the last line is always `N passed, N failed`, the sum of both test runs.
 */
import {
  BINARY,
  buildStep,
  bun,
  installStep,
  run,
  runTests,
  type Step,
  say,
  type TestCounts,
} from "./steps.ts";

const total: TestCounts = { passed: 0, failed: 0 };

await requireSuccess(installStep);
await requireSuccess({ title: "types", command: bun("run", "typecheck") });
await requireSuccess({ title: "lint", command: bun("run", "lint") });
await requireTests({
  title: "unit and architecture tests",
  command: bun("test", "--path-ignore-patterns", "test/e2e/**", "--path-ignore-patterns", "test/bench/**"),
});
await requireSuccess(buildStep);
await requireTests({
  title: "tests of the compiled executable",
  command: bun("test", "test/e2e"),
  env: { SVC_BIN: BINARY },
});
finish(0);

async function requireSuccess(step: Step): Promise<void> {
  const exitCode = await run(step);
  if (exitCode === 0) return;
  total.failed += 1;
  say(`\n${step.title} failed with exit code ${exitCode}`);
  finish(exitCode);
}

async function requireTests(step: Step): Promise<void> {
  const { exitCode, counts } = await runTests(step);
  total.passed += counts.passed;
  total.failed += counts.failed;
  if (exitCode === 0 && counts.failed === 0) return;
  say(`\n${step.title} failed with exit code ${exitCode}`);
  finish(exitCode === 0 ? 1 : exitCode);
}

function finish(exitCode: number): never {
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exit(exitCode);
}
