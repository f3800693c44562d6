/*
 * `bun run torture:routes`: bad days of the real scheduler, routing and store, simulated. Three accounts of two providers and an
 * engine of the house lose answers, refuse, stand still, fail jobs and lose keys, by a script that follows from a seed; the service
 * is restarted in the middle of it. One account is well all day in four seeds of five. In the end each task must have ended once,
 * none may have been made twice, and the account that was well must have saved those that others failed.
 */
import { parseArgs } from "node:util";
import { createFindings } from "./findings.ts";
import { whole } from "./options.ts";
import { runPolls } from "./routes-polls.ts";
import { COLUMNS, cellsOf, describePolls, row } from "./routes-report.ts";
import { runRoutes } from "./routes-run.ts";
import { printVerdict } from "./verdict.ts";

const USAGE = `bun run torture:routes [--seed N] [--seeds 20] [--tasks 5000]

  --seed   the first of them; decides what happens, and is printed, so that a run can be repeated
  --seeds  how many days are simulated, each with a seed of its own
  --tasks  how many tasks are asked for in each
`;
const READ_AT_MOST = 20;
/** Tasks that run at once on one account while their polls are counted. */
const POLLED = 2_000;

try {
  const { seed, seeds, tasks } = readOptions(process.argv.slice(2));
  print(`torture:routes: ${seeds} seeds from ${seed}, ${tasks} tasks each\n`);
  print(row(COLUMNS));
  const found: string[] = [];
  for (let each = seed; each < seed + seeds; each++) {
    const findings = createFindings();
    const report = await runRoutes({ seed: each, tasks }, findings);
    print(row(cellsOf(report, findings.all.length)));
    found.push(...findings.all.map((text) => `seed ${each}: ${text}`));
  }
  const findings = createFindings();
  const polls = await runPolls({ seed, tasks: POLLED }, findings);
  found.push(...findings.all.map((text) => `polls: ${text}`));
  printVerdict([describePolls(polls)], found.slice(0, READ_AT_MOST), found.length);
  process.exit(found.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

/** @throws Error that says what is wrong with the arguments */
function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
      seeds: { type: "string", default: "20" },
      tasks: { type: "string", default: "5000" },
    },
  });
  return {
    seed: whole("--seed", values.seed),
    seeds: whole("--seeds", values.seeds),
    tasks: whole("--tasks", values.tasks),
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
