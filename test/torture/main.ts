/*
 * `bun run torture`: the compiled server is killed with SIGKILL again and again, at random moments, while clients use it. In the
 * end everything must be as if nothing had happened: no accepted task lost, none done or charged twice, every file whole.
 */
import { existsSync } from "node:fs";
import { SVC } from "../helpers/server.ts";
import { createFindings } from "./findings.ts";
import { createTimedKiller } from "./killer.ts";
import { readOptions, USAGE } from "./options.ts";
import { printReport } from "./report.ts";
import { runTorture } from "./run.ts";

const READ_AT_MOST = 20;

try {
  const options = readOptions(process.argv.slice(2));
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  process.stdout.write(`torture: ${options.kills} kills, seed ${options.seed}, ${SVC}\n`);
  const findings = createFindings();
  const killer = createTimedKiller(options.seed, options.lifetime);
  const report = await runTorture({ ...options, killer }, findings);
  printReport(report, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
