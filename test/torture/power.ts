/*
 * `bun run torture:power`: as `bun run torture:syscalls`, and each time the folder is left as a power cut could have left it: writes and names that were not flushed are there in parts, or not at all. In the end everything that anybody was told must
 * be as if nothing had happened. Half of the servers have a slow disk. Needs strace, and does nothing, with a word, where it is absent.
 */
import { existsSync } from "node:fs";
import { SVC } from "../helpers/server.ts";
import { createFindings } from "./findings.ts";
import { readKillOptions } from "./options.ts";
import { createPowerCuts } from "./power-cuts.ts";
import { printReport } from "./report.ts";
import { canTrace } from "./syscalls-killer.ts";
import { runSyscallTorture, startsOf } from "./syscalls-run.ts";

const USAGE = `bun run torture:power [--kills 100] [--seed N] [--keep]

  --kills  how many power cuts must come, some during first starts and migrations
  --seed   decides what is asked, when the power is cut and what is left; printed, so that a run can be repeated
  --keep   leave the data folder behind
`;
const READ_AT_MOST = 20;

try {
  const options = readKillOptions(process.argv.slice(2), 100);
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  if (!canTrace()) {
    process.stdout.write("torture:power: skipped, because strace is absent or may not trace.\n");
    process.exit(0);
  }
  process.stdout.write(`torture:power: ${options.kills} power cuts, seed ${options.seed}, ${SVC}\n`);
  const findings = createFindings();
  const { decide, lost } = createPowerCuts();
  const report = await runSyscallTorture(options, decide, findings);
  const { cuts, writes, names } = lost();
  findings.check(cuts > 0, () => "no cut took anything, so that nothing was tested");
  process.stdout.write(`\nbefore these      ${startsOf(report)}\n`);
  process.stdout.write(
    `lost              by ${cuts} cuts ${writes} writes in part or in whole, and ${names} names, none of them flushed`,
  );
  printReport(report.serving, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
