/*
 * `bun run torture:time`: a simulated week of the real scheduler, timekeeper and store. The clock is set, the process is killed,
 * stopped and frozen, the disk is full, and the upstream goes on meanwhile. In the end every task that the upstream finished must be
 * completed, none may have been made twice, and none may have ended by its deadline before the service had that much time to work.
 */
import { parseArgs } from "node:util";
import { createFindings } from "./findings.ts";
import { whole } from "./options.ts";
import { printTimeReport } from "./time-report.ts";
import { runTimeTorture, type TimeTortureOptions } from "./time-run.ts";

const USAGE = `bun run torture:time [--days 7] [--tasks 2000] [--seed N]

  --days   how long the simulated time is
  --tasks  how many tasks are asked for, most of them shortly before something goes wrong
  --seed   decides what happens; printed, so that a run can be repeated
`;
const READ_AT_MOST = 20;

try {
  const options = readOptions(process.argv.slice(2));
  process.stdout.write(`torture:time: ${options.days} days, ${options.tasks} tasks, seed ${options.seed}\n`);
  const findings = createFindings();
  const report = await runTimeTorture(options, findings);
  printTimeReport(report, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

/** @throws Error that says what is wrong with the arguments */
function readOptions(args: readonly string[]): TimeTortureOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      days: { type: "string", default: "7" },
      tasks: { type: "string", default: "2000" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    },
  });
  return {
    days: whole("--days", values.days),
    tasks: whole("--tasks", values.tasks),
    seed: whole("--seed", values.seed),
  };
}
