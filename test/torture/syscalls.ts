/*
 * `bun run torture:syscalls`: the compiled server is killed at system calls, before they take effect: when it writes, flushes,
 * renames, removes or answers. So are first starts and migrations. In the end everything must be as if nothing had happened.
 * Needs strace, and does nothing, with a word, where it is absent.
 */
import { existsSync } from "node:fs";
import { SVC } from "../helpers/server.ts";
import { createFindings } from "./findings.ts";
import { readKillOptions } from "./options.ts";
import { printReport } from "./report.ts";
import { canTrace, decideKill } from "./syscalls-killer.ts";
import { runSyscallTorture, startsOf } from "./syscalls-run.ts";

const USAGE = `bun run torture:syscalls [--kills 1000] [--seed N] [--keep]

  --kills  how many kills must come, first starts and migrations among them
  --seed   decides what is asked and at which calls the server is killed; printed, so that a run can be repeated
  --keep   leave the data folder behind
`;
const READ_AT_MOST = 20;

try {
  const options = readKillOptions(process.argv.slice(2), 1000);
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  if (!canTrace()) {
    process.stdout.write("torture:syscalls: skipped, because strace is absent or may not trace.\n");
    process.exit(0);
  }
  process.stdout.write(`torture:syscalls: ${options.kills} kills, seed ${options.seed}, ${SVC}\n`);
  const findings = createFindings();
  const report = await runSyscallTorture(options, decideKill, findings);
  process.stdout.write(`\nbefore these      ${startsOf(report)}`);
  printReport(report.serving, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
